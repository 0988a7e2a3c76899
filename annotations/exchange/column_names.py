"""Compare column names regardless of spelling, and tell from a name what its column holds.

A name is compared without case, blanks, accents and signs: "E-Mail Address", "email_address" and
"EmailAddress" are one name.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable
from functools import lru_cache

LONGEST_LABEL = 4
"""Words that a heading may have to be a label of a personal column, and no question about one."""


@lru_cache(4096)
def normalise_name(name: str) -> str:
    """Return the letters and digits of a column name in lower case, without accents."""
    # NFKD splits an accent from its letter, and `isalnum` then drops it.
    parts = unicodedata.normalize("NFKD", name.casefold())
    return "".join(c for c in parts if c.isalnum())


def normalise_names(text: str | Iterable[str]) -> frozenset[str]:
    """Return the set of normalised forms of several names; a string is split into words first."""
    return frozenset(map(normalise_name, text.split() if isinstance(text, str) else text))


PERSONAL = normalise_names(
    # Network and e-mail addresses.
    "ip ips userip clientip remoteip ipaddr ipaddress ip-adresse adresseip adresip ipadres "
    "direccionip dirip indirizzoip enderecoip ipv4 ipv6 ip地址 ipアドレス ip-адрес "
    "email emails mail mailaddress e-mail e-mails emailaddress emailaddr e-mail-adresse "
    "mailadresse adressemail adresseemail adressemel adresseelectronique courriel mel "
    "correo correoelectronico direcciondecorreo direcciondecorreoelectronico emailadres "
    "e-mailadres indirizzoemail indirizzomail indirizzodipostaelettronica postaelettronica "
    "enderecodeemail endereçoemail adresemail adrese-mail epost e-postadress epostadress "
    "sähköposti recipientemail useremail workeremail participantemail respondentemail "
    "contactemail эл.почта электроннаяпочта почта адресэлектроннойпочты 邮箱 电子邮件 電子郵件 "
    "メール メールアドレス 이메일 이메일주소 البريدالإلكتروني "
    # Names.
    "name names fullname firstname lastname middlename surname forename givenname givennames "
    "familyname maidenname nickname fname lname realname yourname respondentname participantname "
    "workername studentname personname contactname recipientname recipientfirstname "
    "recipientlastname initials "
    "vorname nachname familienname zuname ihrname rufname vollständigername vornamename "
    "nom prenom prenoms nomdefamille nometprenom nomprenom nomcomplet "
    "nombre nombres apellido apellidos nombrecompleto nombreyapellido nombreyapellidos "
    "primerapellido nome cognome nomecognome nomeecognome nomecompleto sobrenome primeironome "
    "naam voornaam achternaam volledigenaam imie nazwisko imieinazwisko förnamn efternamn namn "
    "fornavn etternavn efternavn navn etunimi sukunimi nimi adsoyad имя фамилия отчество фио "
    "полноеимя 姓名 名字 名前 氏名 お名前 이름 성명 الاسم الاسمالكامل "
    # Telephones.
    "phone phones phonenumber phoneno telephone telephonenumber telephoneno mobile mobilephone "
    "mobilenumber mobilephonenumber cellphone cellphonenumber cellnumber tel telno contactnumber "
    "whatsapp telefon telefonnummer handy handynummer mobilnummer rufnummer téléphone "
    "numerodetelephone portable teléfono numerodetelefono telefonomovil movil cellulare "
    "numeroditelefono telefone celular numerodetelefone telefoon telefoonnummer numertelefonu "
    "телефон номертелефона 电话 手机 手机号 電話 電話番号 전화번호 "
    # Birth.
    "dateofbirth birthdate birthday dob birth geburtsdatum geburtstag datedenaissance naissance "
    "fechadenacimiento nacimiento datadinascita datadenascimento geboortedatum dataurodzenia "
    "датарождения 生年月日 出生日期 생년월일 "
    # Places.
    "latitude longitude lat lng lon latlng latlong latlon coordinates coordinate gps geolocation "
    "geo locationlatitude locationlongitude locationaccuracy gpslatitude gpslongitude "
    "breitengrad längengrad geografischebreite geografischelänge koordinaten "
    "latitud longitud coordenadas latitudine longitudine coordinate breedtegraad lengtegraad "
    "широта долгота 纬度 经度 緯度 経度 "
    "address postaladdress streetaddress homeaddress mailingaddress street zip zipcode postcode "
    "postalcode adresse anschrift postanschrift strasse straße plz postleitzahl wohnort "
    "adressepostale codepostal rue direccion codigopostal calle indirizzo codicepostale endereço "
    "cep adres адрес 地址 住所 郵便番号 주소 "
    # Numbers of the state and of banks.
    "ssn socialsecurity socialsecuritynumber nationalid passport passportnumber iban "
    "ausweisnummer sozialversicherungsnummer dni nif steuernummer"
)
"""Names of columns with a person's identity, contact or place."""

_PERSONAL_PARTS = normalise_names(
    "ipaddress ipadresse emailaddress emailadresse latitude longitude firstname lastname surname "
    "phonenumber dateofbirth geburtsdatum telefonnummer vorname nachname correoelectronico "
    "postleitzahl recipientemail"
)
"""Parts that make a label of a few words personal, such as "Contact e-mail address"."""

_OWN = re.compile(
    r"\b(your|ihre?n?|deine?n?|votre|vos|ton|su|tu|tus|il tuo|la tua|suo|sua|seu|jouw|uw|je|twój|"
    r"вашe?|ваше|ваш|ваша)\b",
    re.IGNORECASE,
)
_OWN_THINGS = re.compile(
    r"\b(e-?mail( ?-?adress?e?)?s?|(first|last|full|family|given)? ?name|phone|telephone|"
    r"ip[ -]?address|(date of birth|birth ?da(y|te))|(postal|home|street) ?address|address|"
    r"zip ?code|post ?code|vorname|nachname|geburtsdatum|telefonnummer|adresse|"
    r"nom|prénom|courriel|téléphone|correo|nombre|apellidos?|teléfono|nome|cognome|telefono|"
    r"naam|имя|фамилия|телефон)\s*[?:.*]*\s*(\(.*\))?$",
    re.IGNORECASE,
)

DEMOGRAPHIC = normalise_names(
    "age ages agegroup ageinyears yearofbirth birthyear gender genderidentity sex ethnicity "
    "ethnicitysimplified ethnicgroup race nationality citizenship country countryofbirth "
    "countryofresidence currentcountryofresidence residence region state city town language "
    "languages nativelanguage firstlanguage mothertongue fluentlanguages englishlevel "
    "languageproficiency education educationlevel levelofeducation highesteducation "
    "highestlevelofeducation highesteducationlevel educationalbackground academicbackground "
    "degree studentstatus student employment employmentstatus employmentsector occupation job "
    "jobtitle profession industry companytype companysize company income householdincome "
    "personalincome maritalstatus relationshipstatus religion politics politicalorientation "
    "politicalaffiliation handedness socioeconomicstatus householdsize children "
    "alter altersgruppe geburtsjahr geschlecht nationalität staatsangehörigkeit land "
    "herkunftsland muttersprache sprache bildung bildungsstand bildungsabschluss abschluss "
    "höchsterabschluss höchsterbildungsabschluss schulabschluss beruf beschäftigung familienstand "
    "einkommen studiengang studienfach ausbildung religionszugehörigkeit "
    "âge sexe genre nationalité pays paysderesidence langue languematernelle niveaudetudes "
    "niveaudeducation diplome profession metier situationfamiliale revenu "
    "edad sexo género nacionalidad pais paisderesidencia idioma lenguamaterna niveldeestudios "
    "niveleducativo educación ocupación profesión estadocivil ingresos "
    "età genere sesso nazionalità paese lingua linguamadre titolodistudio istruzione occupazione "
    "professione statocivile idade escolaridade nacionalidade ocupação estadocivil "
    "leeftijd geslacht nationaliteit opleiding opleidingsniveau beroep moedertaal "
    "wiek płeć wykształcenie zawód narodowość возраст пол образование профессия гражданство "
    "страна роднойязык 年龄 性别 学历 国籍 职业 年齢 性別 学歴 職業 나이 성별 학력 직업"
)
"""Columns that hold a fact about the person, and no answer to a question of the study."""

_DEMOGRAPHIC_QUESTION = re.compile(
    r"^(how old are you|what is your (current )?(age|gender|sex|nationality|ethnicity|race|"
    r"occupation|profession|job|marital status|religion|native language|mother tongue|"
    r"first language|country|education|academic|educational|employment|income|household|"
    r"(highest|current) (level|degree|education|completed)|level of|field of)"
    r"|(which|what) (gender|ethnicity|race|country|age|language)\b.*\byou\b"
    r"|what('s| is) the highest (level|degree)|highest (level|degree)|please (state|enter|select) "
    r"your (age|gender|sex|nationality|country)|your (age|gender|sex)\b|age\b.{0,12}$"
    r"|(in )?(which|what) (country|state|city) (do|were|are) you|where (do|are) you (live|from)"
    r"|are you (a )?(student|male|female|currently (employed|a student|enrolled))"
    r"|do you identify as|i identify as"
    r"|wie alt (sind sie|bist du)|(was|welches) ist (ihr|dein) (geschlecht|alter|beruf|höchster)"
    r"|(bitte )?geben sie (ihr|ihre) (alter|geschlecht)|welches geschlecht|was ist ihr|ihr alter|"
    r"ihr geschlecht|(was ist )?ihr höchster"
    r"|quel âge avez|quel est votre (âge|sexe|genre|niveau|pays)|votre (âge|sexe|genre)\b"
    r"|cuántos años tien|cuál es (su|tu) (edad|género|sexo|nivel|nacionalidad|país)"
    r"|quanti anni (hai|ha)|qual è (il tuo|la tua|il suo|la sua)"
    r"|hoe oud (ben|bent)|wat is (je|uw) (leeftijd|geslacht)|сколько вам лет|ваш (пол|возраст))",
    re.IGNORECASE,
)

BOOKKEEPING = normalise_names(
    # What a survey tool or a panel notes of a row.
    "status responsestatus progress finished duration durationinseconds durationseconds seconds "
    "minutes timetaken timetakenseconds leadtime worktimeinseconds distributionchannel "
    "userlanguage responseset "
    "qrecaptchascore qrelevantidduplicate qrelevantidduplicatescore qrelevantidfraudscore "
    "externalreference externaldatareference externaldatareferencenumber collectorid customdata1 "
    "customdata respondentstatus studyid sessionid submissionid assignmentid hitid hittypeid "
    "completioncode enteredcode code totalapprovals numapprovals numrejections prolificscore "
    "customstudytncsacceptedat reviewedat archivedat startedat completedat score points total "
    "row rowindex index useragent browser device os operatingsystem platform version referer "
    "referrer condition group arm treatment consent zustimmung einwilligung consentement "
    "consentimiento consenso lastpage seed startlanguage token wave batch"
)
TIMES = normalise_names(
    "timestamp time date datetime starttime endtime completiontime started submitted startdate "
    "enddate recordeddate startdatum enddatum createdat updatedat startedat completedat "
    "submittedat submitdate datestamp lastmodifiedtime lastmodified zeitstempel datum uhrzeit "
    "startzeit endzeit horodateur marcatemporal fecha hora carimbodedatahora "
    "informazionicronologiche tijdstempel sygnaturaczasowa отметкавремени 时间戳 タイムスタンプ"
)
REMARKS = re.compile(
    r"^\W*((any|other|further|additional|general|final|your)\s+)*(comments?|feedback|remarks?|"
    r"suggestions?|anything else|thoughts on (this|the) (survey|study)|notes?|kommentare?|"
    r"anmerkung(en)?|bemerkung(en)?|rückmeldung|feedback|haben sie (noch )?(anmerkungen|"
    r"kommentare|fragen)|sonstige(s)?|commentaires?|remarques?|comentarios?|sugerencias|"
    r"observaciones|commenti|osservazioni|opmerkingen|uwagi|комментарии)\b"
    r"|\b(comments|feedback|anything else) (about|on|for|to|regarding) (this|the|our|us)\b"
    r"|anything else you (want|would|wish)|any (other |further |additional )?"
    r"(comments|feedback|remarks|technical (problems|issues|difficulties))\b"
    r"|\b(do|did|have|would) you (have |like |want |wish ).{0,30}\b(comments?|feedback|remarks?)\b"
    r"|\b(what|how) (did|do) you (think of|think about|like|find|experience) (this|the|our) "
    r"(survey|study|experiment|questionnaire|hit)\b"
    r"|\bwhat (do|did) you think (this|the) (study|survey|experiment) (is|was) about\b"
    r"|\b(experiences?|problems|issues|difficulties) (with|in|during|of) (this|the|our) "
    r"(survey|study|experiment|questionnaire|hit)\b"
    r"|(^|[._\d])(comments?|feedback|remarks?)(_?text)?$"
    r"|\b(alg[uú]n|otros?) comentarios?\b|\bdes (commentaires|remarques)\b|etwas mitteilen"
    r"|(^|[-:–([?.]\s*|\bif )other\b\W.{0,40}(specify|describe|explain|text|which|name)( it)?\W*$"
    r"|\bother\b.{0,12}(please specify|specify|- text)\W*$"
    r"|(^|\[)(other|sonstiges|autre|otro|anders|altro|outro)\]?$|\banders\b.{0,5}namelijk"
    r"|[a-z\d][_.-]other([_.-]?(text|txt|specify|tekst))?$"
    r"|\b(sonstiges?|andere[rs]?)\b.{0,20}angeben"
    r"|\bautre\b.{0,12}précise|\botr[oa]\b.{0,20}especifi"
    r"|\bnog opmerkingen\b|\baltri commenti\b|\balgum comentário\b",
    re.IGNORECASE,
)
"""Headings of remarks on the study, which are no answers to its questions."""


@lru_cache(4096)
def is_personal_heading(name: str) -> bool:
    """Return whether a heading names a column with a person's identity, contact or location."""
    plain = normalise_name(name)
    if plain in PERSONAL:
        return True
    if len(re.findall(r"\w+", name)) <= LONGEST_LABEL and any(
        part in plain for part in _PERSONAL_PARTS
    ):
        # A question of the study may contain such a word: "Which surname is older?"
        return "?" not in name or bool(_OWN.search(name))
    return bool(_OWN.search(name) and _OWN_THINGS.search(name.strip()))


@lru_cache(4096)
def is_demographic_heading(name: str) -> bool:
    """Return whether a heading asks for a fact about the worker, such as age or education."""
    return normalise_name(name) in DEMOGRAPHIC or bool(
        _DEMOGRAPHIC_QUESTION.match(name.strip(" *¿"))
    )


def is_bookkeeping_heading(name: str) -> bool:
    """Return whether a heading names a survey tool's own column, such as status or duration."""
    plain = normalise_name(name)
    return plain in BOOKKEEPING or plain in TIMES


def is_remark_heading(name: str) -> bool:
    """Return whether a heading asks for remarks on the study, not for an answer in it."""
    return bool(REMARKS.search(name.strip()))
