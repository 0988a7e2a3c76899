"""A mail server on this machine that takes mails and refuses what it is set to refuse."""

from __future__ import annotations

import socketserver
import threading
from contextlib import contextmanager
from dataclasses import dataclass, field


@dataclass
class Mailbox:
    """Mails so far by recipient; `refuses` are recipients that get a 550."""

    port: int = 0
    refuses: set[str] = field(default_factory=set)
    mails: list[tuple[str, str]] = field(default_factory=list)


@contextmanager
def open_mail_server():
    """Serve SMTP on a free port of 127.0.0.1."""
    mailbox = Mailbox()

    class Session(socketserver.StreamRequestHandler):
        def reply(self, line):
            self.wfile.write(f"{line}\r\n".encode())

        def handle(self):
            self.reply("220 test")
            recipient = ""
            while line := self.rfile.readline().decode().strip():
                word = line[:4].upper()
                if word == "RCPT":
                    recipient = line.partition("<")[2].partition(">")[0]
                    no_such = recipient in mailbox.refuses
                    self.reply("550 no such user" if no_such else "250 ok")
                elif word == "DATA":
                    self.reply("354 go on")
                    lines = iter(lambda: self.rfile.readline().decode().rstrip("\r\n"), ".")
                    mailbox.mails.append((recipient, "\n".join(lines)))
                    self.reply("250 ok")
                elif word == "QUIT":
                    self.reply("221 bye")
                    return
                else:
                    self.reply("250 ok")

    with socketserver.ThreadingTCPServer(("127.0.0.1", 0), Session) as server:
        server.daemon_threads = True
        mailbox.port = server.server_address[1]
        threading.Thread(target=server.serve_forever, args=(0.02,), daemon=True).start()
        yield mailbox
        server.shutdown()
