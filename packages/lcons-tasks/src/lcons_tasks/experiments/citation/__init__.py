"""The citation experiment: fields of bibliographic references under learned and designed constraints."""
