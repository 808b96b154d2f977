"""What separates the cells of a .csv: what its first line says, and which commas are text."""

import re

NAMED = re.compile("sep=(.)", re.IGNORECASE)  # a first line for Excel alone
# Quoted cells, entities, and commas and semicolons that separate no cells.
PROSE = re.compile(r'"(?>(?:[^"]|"")*)"|&#?\w+;|[,;](?=\s)|(?<=\d),(?=\d)')
