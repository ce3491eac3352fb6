# ruff: noqa: E501 (a table of phrases)
"""Writes the bundled diagnosis set, tasks/ddxplus_small: `python tasks/make_ddxplus.py`.

Deterministic (seeded, no network): the same bytes everywhere. Columns are those of StreamBench's ddxplus; the names of
the 49 diagnoses are DDXPlus's vocabulary. Patients and complaints are ours, made up so that each diagnosis has phrases
that occur nowhere else. This is a puzzle in medical dress: no medicine can be learned from it.
"""

from __future__ import annotations

import hashlib
import json
import random
import sys
from pathlib import Path

ROWS = {"train": 60, "val": 30, "test": 60}
CLUES: dict[str, tuple[str, str, str]] = {
    "Acute COPD exacerbation / infection": ("has smoked for forty years and coughs more phlegm than usual this week", "wheezes at rest on top of a lung disease known for years", "phlegm turned from clear to green since the weekend"),
    "Acute dystonic reactions": ("neck twists to one side and will not turn back", "started a drug against psychosis two days ago", "tongue pushes out against the patient's will"),
    "Acute laryngitis": ("voice went hoarse after two days of shouting at a match", "can only whisper since yesterday", "throat tickles but swallowing does not hurt"),
    "Acute otitis media": ("pulls at the left ear and cries at night", "ear ached, then ran with pus and ached less", "hears dully on one side after a cold"),
    "Acute pulmonary edema": ("woke up gasping and had to sit upright at the window", "pink froth came up with the cough", "legs swell, and lying flat takes the breath away"),
    "Acute rhinosinusitis": ("face aches when bending forward, for five days", "thick yellow mucus from the nose for less than two weeks", "upper teeth ache together with a blocked nose"),
    "Allergic sinusitis": ("sneezes in rows every May", "eyes itch and the nose runs clear whenever the lawn is mown", "nose symptoms vanish indoors and on rainy days"),
    "Anaphylaxis": ("lips swelled minutes after a bite of peanut", "hives all over the body and a tight chest after a wasp sting", "fainted shortly after the first tablet of a new antibiotic"),
    "Anemia": ("pale and tired for months with heavy periods", "craves ice and gets dizzy on the stairs", "nails have become thin and spooned"),
    "Atrial fibrillation": ("heart beats with no rhythm at all since this morning", "feels a fluttering, and the pulse comes irregularly irregular", "was told of an uneven heartbeat and takes blood thinners"),
    "Boerhaave": ("tearing chest pain right after violent vomiting", "skin of the neck crackles under the finger after retching", "vomited after a large dinner, and the pain in the chest never left"),
    "Bronchiectasis": ("cups of phlegm every morning since childhood", "lung infections come back several times a year for decades", "fingertips are clubbed, and the phlegm has three layers"),
    "Bronchiolitis": ("infant of four months feeds badly and breathes fast after a cold", "baby flares its nostrils, and its older brother had a cold", "ribs draw in at every breath of the baby"),
    "Bronchitis": ("cough for ten days that began with a cold, no fever now", "chest is sore from coughing, and the x-ray was clear", "coughs up a little white phlegm after last week's sniffles"),
    "Bronchospasm / acute asthma exacerbation": ("inhaler no longer helps since the cat moved in", "whistling breath after running in cold air", "woken at three each night by a tight chest, better with the spray"),
    "Chagas": ("grew up in a mud-walled house in rural Bolivia", "eyelid swelled after a bug bite while travelling in the Chaco", "stayed months where kissing bugs live in the thatch"),
    "Chronic rhinosinusitis": ("nose blocked and sense of smell gone for half a year", "pressure around the eyes every day since last winter", "polyps were seen in the nose months ago"),
    "Cluster headache": ("stabbing pain behind one eye at the same hour every night", "one eye waters and droops while the pain lasts, half an hour", "paces the room during the attacks, which come for weeks and then stop"),
    "Croup": ("toddler barks like a seal at night", "child's cough eased in the cool night air on the balcony", "harsh noise when the two-year-old breathes in, and a hoarse cry"),
    "Ebola": ("nursed a relative with a bleeding fever in an outbreak zone", "gums bleed and the fever is high three weeks after a trip to Equateur", "helped at a burial where people died of a bleeding illness"),
    "Epiglottitis": ("drools, sits leaning forward and cannot swallow", "throat pain out of all proportion, and a muffled voice", "was never vaccinated, breathes noisily and holds the chin out"),
    "GERD": ("burning behind the breastbone after coffee and when lying down", "sour taste in the mouth every evening", "antacids help for an hour, spicy food brings it back"),
    "Guillain-Barré syndrome": ("tingling feet, then weak legs, now weak hands within a week", "had diarrhoea two weeks ago and now cannot climb stairs", "knee reflexes are gone on both sides"),
    "HIV (initial infection)": ("rash, fever and swollen glands three weeks after unprotected sex", "shared a needle last month and now has mouth ulcers with fever", "glandular illness, but the test for kissing disease was negative"),
    "Influenza": ("sudden high fever with aching limbs in January", "whole office is in bed with fever and dry cough", "was well at noon, shivering and aching all over by evening, not vaccinated this season"),
    "Inguinal hernia": ("lump in the groin that comes out when lifting crates", "swelling above the thigh that slips back when lying down", "pulling in the groin after moving a piano"),
    "Larygospasm": ("throat shut for a minute when waking from anaesthesia, then opened", "could not draw breath for seconds after inhaling water", "sudden choking noise for half a minute, and well between the attacks"),
    "Localized edema": ("one ankle swollen since a long bus ride, no breathlessness", "finger leaves a dent on the left shin only", "ring no longer fits one hand, without any pain"),
    "Myasthenia gravis": ("eyelids droop more and more towards evening", "jaw tires in the middle of a meal", "sees double late in the day, and sleep makes it good again"),
    "Myocarditis": ("chest ache and racing heart a week after a stomach bug in a young man", "troponin is up in an athlete who had a cold and is too weak to train", "breathless after a viral illness, heart muscle sore on the scan"),
    "PSVT": ("heart suddenly races at a perfectly regular 190 and stops as suddenly", "attack ended by dipping the face into cold water", "rapid pounding in the neck that switches on and off like a lamp"),
    "Pancreatic neoplasm": ("skin turned yellow without pain, and ten kilos are gone", "dull ache boring through to the back, with pale stools", "new diabetes at seventy with weight loss and dark urine"),
    "Panic attack": ("sure of dying in the supermarket queue, over in ten minutes", "lips tingled while breathing too fast before the exam", "sudden wave of fear out of nowhere, all tests were normal"),
    "Pericarditis": ("chest pain that eases when leaning forward", "doctor heard a scratching rub over the heart", "sharp pain on lying back, after a flu-like illness"),
    "Pneumonia": ("shaking chill, then rust-coloured phlegm", "crackles at the base of the right lung and a stitch on breathing in", "old neighbour got confused and feverish with a cough"),
    "Possible NSTEMI / STEMI": ("crushing pressure on the chest into the left arm for an hour", "cold sweat and a weight like an elephant on the breastbone at rest", "pain in jaw and arm that three sprays of nitroglycerin did not stop"),
    "Pulmonary embolism": ("sudden breathlessness four days after a hip operation", "calf was swollen, then came a stabbing pain on breathing and blood in the spit", "collapsed after an intercontinental flight, oxygen is low and the lungs sound clear"),
    "Pulmonary neoplasm": ("coughs blood after fifty years of smoking and lost fifteen kilos", "hoarse for two months, with a shadow on the chest film", "shoulder pain and a drooping lid on the same side in a heavy smoker"),
    "SLE": ("red rash over both cheeks and nose after sun", "joints ache, hair falls out and there is protein in the urine of a young woman", "mouth sores, sensitive to light, and fingers go white in the cold"),
    "Sarcoidosis": ("lymph nodes at both lung roots on a film taken for another reason", "tender red bumps on the shins with a dry cough", "gritty eyes, swollen glands beside the ears and granulomas in the biopsy"),
    "Scombroid food poisoning": ("face flushed twenty minutes after eating tuna", "everyone who had the mackerel got hot cheeks and a headache", "fish tasted of pepper, then hives came for two hours"),
    "Spontaneous pneumothorax": ("tall thin student with sudden one-sided chest pain while reading", "no breath sounds at the top of the left chest", "felt a pop in the chest and got short of breath without any blow"),
    "Spontaneous rib fracture": ("something cracked in the side during a fit of coughing", "one spot on a rib is exquisitely tender after weeks of coughing", "has brittle bones, and the side hurts at each cough and each touch"),
    "Stable angina": ("chest tightens at the same flight of stairs each day and eases with rest", "pressure when walking uphill against the wind, for a year, never at rest", "always three minutes after stopping, the tightness is gone"),
    "Tuberculosis": ("night sweats and cough for three months after years in a crowded shelter", "uncle with the same cough was treated for half a year with four drugs", "cavity in the upper lung, evening fevers and weight loss"),
    "URTI": ("runny nose, mild sore throat and sneezing for two days", "child brought a cold home from nursery, no fever worth the name", "blocked nose and scratchy throat, works on as usual"),
    "Unstable angina": ("chest pressure now comes at rest, and oftener each day this week", "used to have tightness on effort only, last night it woke the patient", "two new episodes of tightness in bed since Monday, troponin normal"),
    "Viral pharyngitis": ("sore throat with a runny nose, no white coating on the tonsils", "throat is red all over, swallowing hurts, eyes are pink too", "swab for bacteria was negative, and the sore throat is in its third day"),
    "Whooping cough": ("coughs in fits that end in a long crowing breath", "vomits after the coughing fits, in the third week", "baby turns blue in coughing spells, and the parents never had boosters"),
}  # fmt: skip
NOISE = (
    "drinks tea with every meal", "has a cousin who is a pilot", "moved house last autumn", "owns two dogs", "wears glasses",
    "works at a desk", "has no known allergies", "takes no regular medicine", "sleeps about seven hours",
    "broke a wrist as a child", "rides a bicycle to work", "does not drink alcohol", "was on holiday in the mountains",
    "had the appendix out long ago", "plays cards on Sundays",
)  # fmt: skip
CHILDREN = ("Bronchiolitis", "Croup", "Acute otitis media", "Whooping cough")


def rows(split: str) -> list[dict[str, object]]:
    """The rows of a split: every diagnosis at least once where there is room, in a shuffled order."""
    rng = random.Random(f"ddxplus_small/{split}")
    labels = sorted(CLUES)
    picked = rng.sample(labels, min(len(labels), ROWS[split]))
    picked += rng.sample(labels, ROWS[split] - len(picked))
    rng.shuffle(picked)
    return [_row(rng, label) for label in picked]


def _row(rng: random.Random, label: str) -> dict[str, object]:
    age = rng.randrange(1, 5) if label in CHILDREN else rng.randrange(18, 85)
    sex = rng.choice("FM")
    clues = rng.sample(CLUES[label], 2)
    told = [*clues, *rng.sample(NOISE, 2)]
    rng.shuffle(told)
    profile = "\n".join(
        [f"Age: {age}", f"Sex: {sex}", f"First complaint: {clues[0]}", "Told on asking:", *(f"- {t}" for t in told)]
    )
    return {"AGE": age, "SEX": sex, "PATIENT_PROFILE": profile, "PATHOLOGY": label}


CARD = """# ddxplus_small

One made-up patient a row; the answer is one of 49 diagnoses.

| file | rows |
| --- | --- |
{table}

Columns are those of StreamBench's ddxplus: `PATIENT_PROFILE` and `PATHOLOGY` are used, `AGE` and `SEX` go along. The names
of the diagnoses are DDXPlus's. Patients and complaints are ours, made up by `tasks/make_ddxplus.py` from fixed seeds; no
row of DDXPlus or StreamBench is in here.

Use: trying the harness out and its tests. It is no stand-in for the real set: each diagnosis has three phrases that give
it away. Nothing in it is medical advice. Figures from it never stand beside published ones.

Made again by `python tasks/make_ddxplus.py`; digests in `SHA256SUMS`. Licence: that of ace-bench (Apache-2.0).
"""


def files() -> dict[str, bytes]:
    """Relative path -> bytes of every file this script writes."""
    texts = {f"{split}.jsonl": "".join(json.dumps(row) + "\n" for row in rows(split)) for split in ROWS}
    texts["README.md"] = CARD.format(table="\n".join(f"| {split}.jsonl | {n} |" for split, n in ROWS.items()))
    data = {name: text.encode() for name, text in texts.items()}
    sums = "".join(f"{hashlib.sha256(body).hexdigest()}  {name}\n" for name, body in sorted(data.items()))
    return {f"ddxplus_small/{name}": body for name, body in {**data, "SHA256SUMS": sums.encode()}.items()}


def main(folder: Path) -> None:
    """Write every file below `folder`."""
    for path, body in files().items():
        (folder / path).parent.mkdir(parents=True, exist_ok=True)
        (folder / path).write_bytes(body)


if __name__ == "__main__":
    main(Path(sys.argv[1]) if len(sys.argv) > 1 else Path(__file__).parent)
