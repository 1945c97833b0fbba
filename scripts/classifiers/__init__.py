"""The labelled rows that the tables of text/classifier are trained on, and how such a table is made."""
