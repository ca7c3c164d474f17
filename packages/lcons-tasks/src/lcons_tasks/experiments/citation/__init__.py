"""The citation experiment: labels the fields of bibliographic references under learned and designed
constraints."""
