"""A page of a real site with a real worker, and who walks through it."""

PASSWORD = "rivers-and-lakes"
SECONDS_TO_GRADE = 120_000


class Walker:
    """A page that notes what its console says, and whether something is wider than it."""

    def __init__(self, page):
        self.page = page
        self.complaints = []
        page.on("console", self._heard)
        page.on("pageerror", lambda error: self.complaints.append(str(error)))

    def _heard(self, message):
        if message.type in ("error", "warning"):
            self.complaints.append(f"{message.text} ({self.page.url})")

    def look(self, heading):
        """Check the page that is open."""
        self.page.get_by_role("heading", name=heading, level=1).wait_for()
        self.page.wait_for_load_state()  # a click may have led to a page that is just coming
        wider = self.page.evaluate(
            "document.documentElement.scrollWidth - document.documentElement.clientWidth"
        )
        assert wider <= 0, f"{self.page.url} is {wider} pixels too wide"
        assert self.complaints == []

    def press(self, name, within=None):
        scope = self.page if within is None else self.page.locator(within)
        control = scope.get_by_role("button", name=name, exact=True)
        control = control.or_(scope.get_by_role("link", name=name, exact=True))
        if self.page.locator(".set-tabs").count() and not control.count():
            self._open_tab_of(name)
        elif not control.count() and scope.locator(".fold-more button").count():
            # A long page shows its last sections on a phone after "Show all".
            scope.locator(".fold-more button").first.click()
        control.first.click()

    def _open_tab_of(self, name):
        """Open the tab of a question set that holds a button or a link."""
        panel = self.page.locator(".set-panel").filter(
            has=self.page.locator("a, button").get_by_text(name, exact=True)
        )
        self.page.click(f".set-tabs a[href='#{panel.first.get_attribute('id')}']")

    def upload(self, kind, path, set_name):
        self.press(f"Upload {kind}")
        self.look(f"Upload {kind}")
        self.page.get_by_label("File").first.set_input_files(path)
        self.press("Check the file")
        self.look(f"Import {kind}?")
        self.page.get_by_role("button", name="Import ").click()
        self.look(f"The {kind} are imported")
        self.press("To the question set")
        self.look(set_name)

    def import_answers(self, path, set_name):
        self.press("Import answers")
        self.look("Import answers")
        self.page.get_by_label("File").first.set_input_files(path)
        self.press("Look into the file")
        self.look("What do the columns hold?")
        self.press("Check the whole file")
        self.look("Import answers?")
        self.page.get_by_role("button", name="Import ").click()
        self.look("The answers are imported")
        self.press("To the question set")
        self.look(set_name)
