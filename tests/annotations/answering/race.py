"""200 threads race for the last places, in a process and a database of their own.

Run as `python -m tests.annotations.answering.race PLACES ANSWERS_PER_QUESTION` with DATABASE_URL
set; prints how many got a place, and how many were told what.
"""

import json
import os
import sys
import threading
from collections import Counter
from pathlib import Path

THREADS = 200
CONNECTIONS = 40
"""At once: a server has a limit. On SQLite all 200 are open."""


class NoMigrations:
    def __contains__(self, app):
        return True

    def __getitem__(self, app):
        return None


def main(places, each):
    sys.path.insert(0, str(Path(__file__).resolve().parents[3] / "platform"))
    os.environ["DJANGO_SETTINGS_MODULE"] = "crowdgrade.settings"
    import django
    from django.conf import settings

    # Tables from the models, as in the other tests: migrations take most of a minute.
    settings.MIGRATION_MODULES = NoMigrations()
    django.setup()
    from django.contrib.auth.models import User
    from django.core.management import call_command
    from django.db import connection, connections

    call_command("migrate", run_syncdb=True, verbosity=0)
    from annotations.answering import collecting
    from annotations.answering import places as seats
    from annotations.answering.errors import AnsweringError
    from annotations.answering.links import Visitor
    from annotations.models import Assignment, Question, QuestionSet, Submission

    owner = User.objects.create_user("rana", is_staff=True)
    question_set = QuestionSet.objects.create(owner=owner, name="race")
    draft = question_set.draft()
    for number in range(4):
        Question.objects.create(version=draft, external_id=f"q{number}", text=f"Question {number}?")
    collection = collecting.publish_question_set(
        question_set, places=places, answers_per_question=each or None
    ).collection
    slots = threading.Semaphore(THREADS if connection.vendor == "sqlite" else CONNECTIONS)
    barrier, said = threading.Barrier(THREADS), []

    def race(number):
        barrier.wait()
        with slots:
            try:
                # Every fourth is another window of the one before, who has one place in both.
                seats.reserve_place(collection, Visitor(f"w{number - number % 4 // 3}"))
                said.append("place")
            except AnsweringError as error:
                said.append(error.code)
            except Exception as error:
                said.append(repr(error))
            finally:
                connections.close_all()

    threads = [threading.Thread(target=race, args=(number,)) for number in range(THREADS)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    counts = Counter(Assignment.objects.values_list("question__external_id", flat=True))
    print(
        json.dumps(
            {
                "vendor": connection.vendor,
                "said": Counter(said),
                "submissions": Submission.objects.count(),
                "questions": counts,
            }
        )
    )


if __name__ == "__main__":
    main(int(sys.argv[1]), int(sys.argv[2]))
