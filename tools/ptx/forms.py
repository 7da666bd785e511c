"""The table of forms: all that are checked, in one list. What is chosen at random among many (lop3's tables, parts of words) is rng's."""
from conversions import conversion_forms
from floats import float_forms
from integers import integer_forms
from narrow import narrow_forms
from video import video_forms


def all_forms(rng):
    return [*integer_forms(rng), *video_forms(rng), *float_forms(), *conversion_forms(), *narrow_forms()]
