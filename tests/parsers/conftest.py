from hypothesis import settings

# The first example of a test may compile a kernel.
settings.register_profile("parsers", deadline=None)
settings.load_profile("parsers")
