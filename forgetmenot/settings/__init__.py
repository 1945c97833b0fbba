"""The settings: `schema` names every setting, `load` reads them from a TOML file."""
