"""Templates of consent texts: they list the collected data; the rest are gaps in brackets."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Final

ENGLISH: Final = """\
## What this is about

[Who you are and what you want to find out, in two sentences.]

## What you do

It takes about [number] minutes. [Pay: how much and by whom, only if the settings of the \
collection name no pay.]

## What we collect

- **Your answers**, as you write them, and a draft while you write.
- **Times**: when you begin, when a page is first shown, when the first draft of each answer is \
saved, and when it is handed in.
- **How each answer is written, in numbers**: how many characters you type and delete, with how \
many inputs; how often you paste or drop something in and how many characters that is; how often \
and how many seconds you leave the page for another window; how many seconds you are active. Which \
keys you press is not recorded, and what you paste only as a part of your answer.
- **The kind of your device**: phone, tablet or computer, and nothing else about it.
- **Your participant id** on the platform that brought you here. We do not ask for your name.

## What happens with it

People and programs compare the answers with each other to find out which answers agree. Your \
answers may be shown and published without your participant id. They are kept until [date].

No program uses the numbers of how you write for a grade, for your pay or for anything else. We \
may look at them, for example where answers look copied. If you use \
assistive technology or do not want these numbers, tick the box for it below. On the page “What is \
my data used for?” you can see them, and have them deleted at any time.

We look at how many people answer from which kind of device, to see whether a rule for pay, or \
rejected work, turns out worse for some people.

## Your choice

Taking part is voluntary. You can stop at any time, and withdraw your answers by the link at the \
end or by writing to [address]. Answers that were published cannot be taken back.

You must be at least 18.
"""

GERMAN: Final = """\
## Worum es geht

[Wer Sie sind und was Sie herausfinden wollen, in zwei Sätzen.]

## Was Sie tun

Das dauert etwa [Zahl] Minuten. [Bezahlung: wie viel und von wem, nur wenn die Einstellungen der \
Erhebung keine nennen.]

## Was wir erheben

- **Ihre Antworten**, so wie Sie sie schreiben, und einen Entwurf, während Sie schreiben.
- **Zeiten**: wann Sie beginnen, wann eine Seite zum ersten Mal gezeigt wird, wann der erste \
Entwurf jeder Antwort gespeichert und wann sie abgegeben wird.
- **Wie jede Antwort geschrieben wird, in Zahlen**: wie viele Zeichen Sie tippen und löschen und \
mit wie vielen Eingaben; wie oft Sie etwas einfügen oder hineinziehen und wie viele Zeichen das \
sind; wie oft und wie viele Sekunden Sie die Seite für ein anderes Fenster verlassen; wie viele \
Sekunden Sie aktiv sind. Welche Tasten Sie drücken, wird nicht aufgezeichnet, und was Sie \
einfügen, nur als Teil Ihrer Antwort.
- **Die Art Ihres Geräts**: Telefon, Tablet oder Computer, und sonst nichts darüber.
- **Ihre Teilnehmerkennung** auf der Plattform, die Sie hierher gebracht hat. Nach Ihrem Namen \
fragen wir nicht.

## Was damit geschieht

Menschen und Programme vergleichen die Antworten miteinander, um herauszufinden, welche \
übereinstimmen. Ihre Antworten können ohne Ihre Teilnehmerkennung gezeigt und veröffentlicht \
werden. Sie werden bis [Datum] aufbewahrt.

Kein Programm benutzt die Zahlen darüber, wie Sie schreiben, für eine Note, für Ihre Bezahlung \
oder für etwas anderes. Wir sehen sie uns vielleicht an, zum Beispiel wo Antworten abgeschrieben \
wirken. Wenn Sie Hilfsmittel benutzen oder diese Zahlen nicht möchten, kreuzen Sie unten das \
Kästchen dafür an. Auf der Seite „Wofür werden meine Daten verwendet?“ \
können Sie sie sehen und jederzeit löschen lassen.

Wir sehen uns an, wie viele Menschen mit welcher Art von Gerät antworten, um zu sehen, ob eine \
Regel für die Bezahlung oder abgelehnte Arbeit manche Menschen schlechter stellt.

## Ihre Entscheidung

Die Teilnahme ist freiwillig. Sie können jederzeit aufhören und Ihre Antworten zurückziehen, über \
den Link am Ende oder indem Sie an [Adresse] schreiben. Veröffentlichte Antworten können nicht \
zurückgenommen werden.

Sie müssen mindestens 18 Jahre alt sein.
"""

ARABIC: Final = """\
## عن هذه الدراسة

[من أنتم وماذا تريدون أن تعرفوا، في جملتين.]

## ما الذي تفعله

يستغرق ذلك نحو [عدد] دقيقة. [الأجر: كم هو ومن يدفعه، فقط إذا لم تذكره إعدادات جمع الإجابات.]

## ما الذي نجمعه

- **إجاباتك** كما تكتبها، ومسودة منها أثناء الكتابة.
- **الأوقات**: متى تبدأ، ومتى تظهر كل صفحة أول مرة، ومتى تُحفظ أول مسودة لكل إجابة، ومتى تُسلَّم.
- **كيف تُكتب كل إجابة، بالأرقام**: كم حرفًا تكتب وتحذف وبكم إدخال؛ وكم مرة تلصق شيئًا أو تسحبه \
إلى الإجابة وكم حرفًا فيه؛ وكم مرة وكم ثانية تغادر الصفحة إلى نافذة أخرى؛ وكم ثانية تكون نشطًا. لا \
يُسجَّل أي المفاتيح تضغط، ولا يُسجَّل ما تلصقه إلا بوصفه جزءًا من إجابتك.
- **نوع جهازك**: هاتف أو جهاز لوحي أو حاسوب، ولا شيء غير ذلك عنه.
- **معرّف المشاركة الخاص بك** على المنصة التي جئت منها. لا نسأل عن اسمك.

## ما الذي يحدث بها

يقارن أشخاص وبرامج الإجابات بعضها ببعض لمعرفة أيها يتفق. قد تُعرض إجاباتك وتُنشر من دون معرّف \
المشاركة. تُحفظ حتى [التاريخ].

لا يستعمل أي برنامج أرقام طريقة كتابتك لتقدير درجة ولا لأجرك ولا لأي شيء آخر. قد ننظر فيها، مثلًا \
حيث تبدو الإجابات منسوخة. إذا كنت تستعمل تقنية مساعِدة أو لا تريد هذه الأرقام، فضع علامة في \
المربع المخصص لذلك أدناه. في صفحة «فيمَ تُستخدم بياناتي؟» يمكنك أن تراها وأن \
تطلب حذفها في أي وقت.

ننظر في عدد من يجيبون من كل نوع من الأجهزة، لنرى هل تكون قاعدة للأجر، أو رفض العمل، أسوأ على بعض \
الناس.

## القرار لك

المشاركة طوعية. يمكنك التوقف في أي وقت، وسحب إجاباتك بالرابط الموجود في آخر الصفحة أو بالكتابة إلى \
[العنوان]. لا يمكن سحب إجابات نُشرت.

يجب أن يكون عمرك 18 عامًا على الأقل.
"""

TEMPLATES: Final = {"en": ENGLISH, "de": GERMAN, "ar": ARABIC}


@dataclass(frozen=True, slots=True)
class TemplatePhrases:
    """Headings and bold phrases of a consent template that describe the use of data.

    `counted` is what is collected only if the collection counts how answers are written.
    """

    headings: tuple[str, ...]
    collected: tuple[str, ...]
    counted: str

    @classmethod
    def from_template(cls, template: str) -> TemplatePhrases:
        """Return the headings and bold phrases of a template."""
        headings = re.findall(r"^## (.+)$", template, re.MULTILINE)
        collected = re.findall(r"\*\*(.+?)\*\*", template)
        # The first two headings are about the study, and the third bold phrase is about
        # signals.
        return cls(tuple(headings[2:]), tuple(collected), collected[2])


PARTS: Final = tuple(map(TemplatePhrases.from_template, TEMPLATES.values()))

PASTING: Final = re.compile(
    r"\bpast(e|ing)|ein(ge|zu)?füg|لصق|\bcoll(er|é|ag|ez)|\bpeg(ar|ad|a|ue)|incoll|\bcol(ar|ad|ag)"
    "|plak|wklej"
    "|встав|yapıştır|粘贴|貼|ペースト|붙여",
    re.IGNORECASE,
)
"""A word for pasting, in the most frequent languages."""


def select_consent_template(language: str) -> str:
    """Return the template for a language (BCP 47 tag); in English if there is none.

    Its gaps are in square brackets; the checks list them.
    """
    return TEMPLATES.get(language.lower().partition("-")[0], ENGLISH)


def has_data_use_notice(text: str, is_counting: bool) -> bool:
    """Return whether a consent text has all parts of a template on the use of data.

    These are the headings after the first two, and what is collected (in bold); what is counted
    only if something is (`is_counting`). The consent page then does not repeat it.
    """
    plain = " ".join(text.split())
    return any(
        all(part in plain for part in _list_required_phrases(parts, is_counting)) for parts in PARTS
    )


def _list_required_phrases(parts: TemplatePhrases, is_counting: bool) -> list[str]:
    """Return the headings and phrases of a template that a consent text must contain."""
    needed = [*parts.headings, *parts.collected]
    return needed if is_counting else [part for part in needed if part != parts.counted]


def has_signals_notice(text: str) -> bool:
    """Return whether a consent text seems to mention that pasting is recorded."""
    return PASTING.search(text) is not None
