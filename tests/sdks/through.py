"""`through.py FROM TO COMMAND…` runs a command with TO in place of FROM in its arguments and in all variables."""

import os
import sys

FROM, TO = sys.argv[1:3]
words = [word.replace(FROM, TO) for word in sys.argv[3:]]
os.execvpe(words[0], words, {name: value.replace(FROM, TO) for name, value in os.environ.items()})
