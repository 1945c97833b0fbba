"""All SQL. `database` holds the connections; then one module per group of tables, each a set of plain functions."""
