"""Every number that grouping and learning decide by, and why it is that number.

Moving one by a single step changes what becomes an issue, so `tests/areas/issues/test_thresholds.py` pins each.
"""

# --- Masking: how far it looks --------------------------------------------------------------------------------

MESSAGE_LIMIT = 8192  # characters of a message that count: longer ones are dumps, whose beginning tells them apart
MEMO_SIZE = 16_384  # messages, words and places remembered; they only save work
MEMO_TEXT = 512  # longer texts are rare and would make what is remembered big

# --- Learning: when a place of a message is a value -------------------------------------------------------------
#
# A place is a value when `the sum of its words' weights * the fixed text around it >= EVIDENCE`. Fixed text is
# counted in words of the template; words of grammar count half and masked values a quarter, as they say less.

# Five plain words in a sentence of some words, twelve beside a single one: two or three are a choice (failed,
# succeeded), and the less a message says, the more often two of them are alike by chance.
EVIDENCE = 14.0
LEAST_FIXED = 1.0  # a template without a single word of its own says nothing
MOST_FIXED = 2.5  # longer sentences prove no more: else three words would do
PLAIN = 1.0  # letters only, as in words of a language
PROPER = 1.5  # capitals, digits or joints inside: such a word is a name more often than a choice
DOUBTFUL = 0.375  # where, or such as, messages say what happened: then it takes dozens
KNOWN_BY_NAME = 2.5  # times the weight: the word is a value in another message already
VALUE_THERE = 4.0  # the same template with a value of the first stage in this place counts as so many words

SUGGESTED_WORDS = 3  # people are shown what looks alike long before it is joined
SUGGESTED_FIXED = 1.5

GRAMMAR_WEIGHT = 0.5
VALUE_WEIGHT = 0.25
MOST_VALUES = 2  # a list of numbers is not more of a sentence for being longer

MAX_TEMPLATE = 1_000  # longer texts are dumps rather than sentences
MAX_ITEMS = 60
MAX_SINGLES = 16
MAX_PAIRED = 6  # with more open words, only neighbours are paired
MAX_REASON = 8  # words behind the last colon that are a reason rather than another sentence
MAX_NAMES = 3  # a longer run of capitals is a heading
MAX_WORD = 100
