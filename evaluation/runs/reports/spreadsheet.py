"""Define tables that users open in a spreadsheet."""

from annotations.exchange.writing.formats import Table as Table
