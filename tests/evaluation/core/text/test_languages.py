import csv

import pytest

from evaluation.core.backends import EmbedderInfo
from evaluation.core.options import TERMINAL
from evaluation.core.text.quality import _load_identifier, find_language_warning

ENGLISH_MODEL = EmbedderInfo("minilm", "all-MiniLM-L6-v2", "r", "float32", 384, 256, "en")

SPANISH = [
    "Un prototipo sirve para simular una parte del producto final.",
    "Una variable es un lugar en la memoria que guarda un valor.",
    "el programa nunca termina porque la condición siempre es verdadera",
    "La pila devuelve primero el último elemento que se ha guardado.",
    "no lo sé, pero creo que tiene que ver con la memoria",
]
GERMAN = [
    "Ein Zeiger speichert die Adresse einer anderen Variable.",
    "Der Prototyp zeigt, wie das Programm am Ende aussehen soll.",
    "weil die Schleife nie endet und das Programm dann hängt",
    "Das weiß ich leider nicht mehr so genau.",
    "Eine Liste ist verkettet und ein Feld liegt am Stück im Speicher.",
]
ENGLISH = [
    "A prototype simulates a part of the final product.",
    "A variable is a place in memory that holds a value.",
    "the program never ends because the condition is always true",
    "The stack gives back the element that was stored last.",
    "i dont know but i think it has to do with memory",
]
OTHERS = {
    "russian": ["Стек возвращает последний элемент", "Указатель хранит адрес"],
    "chinese": ["指针保存另一个变量的地址", "栈是后进先出的数据结构，队列是先进先出"],
    "arabic": ["المؤشر يحتفظ بعنوان متغير آخر", "لا أعرف"],
    "greek": ["Η στοίβα επιστρέφει το τελευταίο στοιχείο"],
    "spanish": SPANISH,
    "german": GERMAN,
    "a quarter of the answers in german": ENGLISH * 3 + GERMAN,
}
FACTS = [
    *("Paris", "München", "São Paulo", "Kraków", "Reykjavík", "Île-de-France", "Côte d'Ivoire"),
    *("Johann Wolfgang von Goethe", "Gabriel García Márquez", "Leonardo di ser Piero da Vinci"),
    *("1492", "42", "3.14", "H2O", "α", "µm", "2πr", "O(n log n)", "yes", "no", "int main()"),
    *("Rio de Janeiro, São Paulo, Brasília", "Cien años de soledad", "Die Zauberflöte"),
    *("Les Misérables by Victor Hugo", "La Sagrada Familia in Barcelona", "Karl der Große"),
    *("Santiago de Compostela, A Coruña, Vigo", "Universidad Nacional Autónoma de México"),
    *("Ludwig Mies van der Rohe", "San Lorenzo de El Escorial", "Antoine de Saint-Exupéry"),
]


@pytest.mark.parametrize("name", OTHERS)
def test_another_language_is_marked_loudly(name):
    warning = find_language_warning(OTHERS[name], ENGLISH_MODEL)
    assert warning is not None
    assert "KNOWS ENGLISH ONLY" in TERMINAL.format_message(warning)


@pytest.mark.parametrize(
    "texts", [[], [""], ["?"], ENGLISH, FACTS, [*ENGLISH, *FACTS], [*ENGLISH, "数据"]]
)
def test_english_and_short_facts_are_not(texts):
    assert find_language_warning(texts, ENGLISH_MODEL) is None


def test_models_of_other_or_unknown_languages_are_left_alone():
    for languages in (None, "de", "en,de"):
        info = EmbedderInfo("s", "m", "r", "float32", 1, languages=languages)
        assert find_language_warning(SPANISH, info) is None


def test_a_missing_library_is_said(monkeypatch):
    _load_identifier.cache_clear()
    monkeypatch.setitem(__import__("sys").modules, "py3langid.langid", None)
    warning = find_language_warning(SPANISH, ENGLISH_MODEL)
    assert warning.code == "language_not_checked"
    assert "pip install py3langid" in warning.values["why"]


@pytest.mark.medium
def test_no_false_alarm_on_two_public_data_sets(data_folder):
    with (data_folder / "mohler2011" / "answers.csv").open(encoding="utf-8", newline="") as file:
        mohler = [row["answer"].replace("<br>", " ") for row in csv.DictReader(file)]
    assert find_language_warning(mohler, ENGLISH_MODEL) is None
    for start in range(0, len(mohler), 25):
        assert find_language_warning(mohler[start : start + 25], ENGLISH_MODEL) is None
    for name in ("T1", "T2"):
        path = data_folder / "crowdwsa2019" / f"{name}_label_anonymous.tsv"
        lines = path.read_text(encoding="utf-8").splitlines()[1:]
        assert find_language_warning([line.split("\t")[2] for line in lines], ENGLISH_MODEL) is None
