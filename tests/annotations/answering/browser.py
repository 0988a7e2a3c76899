"""Django's client as a worker's browser; it enforces CSRF checks, as a real server does."""

from django.test import Client

from tests.annotations.answering.walker import Page


class Browser:
    """Django's client with the contract's way of filling in."""

    def __init__(self, made, worker="ada", more=""):
        self.client = Client(enforce_csrf_checks=True)
        self.link = f"/answer/{made.collection.public_id}/?PROLIFIC_PID={worker}{more}"

    def get(self, address):
        return self._look(self.client.get(address, follow=True), address)

    def post(self, address, data):
        return self._look(self.client.post(address, data, follow=True), address)

    def _look(self, response, address):
        self.response = response
        self.address = response.redirect_chain[-1][0] if response.redirect_chain else address
        self.page = Page(response.content.decode())
        return response

    def begin(self):
        self.get(self.link)
        return self.press()

    def press(self, text="north", **changed):
        form = self.page.form
        data = form["data"] | dict.fromkeys(form["texts"], text) | changed
        return self.post(form["action"] or self.address, data)

    def until(self, word):
        for _ in range(30):
            if f"/{word}/" in self.address:
                return self.page
            self.press()
        raise AssertionError(self.address)

    @property
    def boxes(self):
        """The texts in the boxes, without the line break before them."""
        return [text.removeprefix("\n") for text in self.page.form["texts"].values()]
