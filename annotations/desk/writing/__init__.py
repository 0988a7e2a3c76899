"""Pages of projects in which writers write unanswerable problems and validators check them."""
