"""Names of countries, as stems: so that a city is not taken for another country."""

from forgetmenot.text.words import stem

_NAMES = """argentina australia austria belgium brazil britain bulgaria canada chile china colombia croatia cuba cyprus
czechia denmark ecuador egypt england estonia finland france germany ghana greece hungary iceland india
indonesia iran iraq ireland israel italy jamaica japan jordan kenya korea kuwait latvia lebanon lithuania
luxembourg malaysia malta mexico moldova morocco nepal netherlands holland nigeria norway pakistan panama
paraguay peru philippines poland portugal romania russia scotland serbia singapore slovakia slovenia spain
sweden switzerland taiwan thailand tunisia turkey ukraine uruguay usa us uk venezuela vietnam wales europe asia
africa texas california florida alabama alaska arizona colorado georgia hawaii illinois michigan minnesota ohio
oregon ontario quebec bavaria catalonia scandinavia"""
COUNTRIES = frozenset(map(stem, _NAMES.split()))
"""Countries, and the larger parts of the world that people say they live in."""
