"""Files: LibreTranslate's /translate_file, and the translated file that a client then fetches."""

import re
import urllib.parse
from pathlib import PurePosixPath

from starlette.requests import Request
from starlette.responses import JSONResponse, Response

from nmt.resumable_output import FinishedText
from nmt.serving import notices, uploads
from nmt.serving.fields import STRING, Field, FileField, TextField
from nmt.serving.operations import KEY, SOURCE, TARGET, WARNINGS, Operation
from nmt.serving.service import Service
from nmt.serving.translated_texts import too_long, translate_texts

MAX_FILE_BYTES = 10_000_000
FILE_REQUESTS = 20  # a file may have as many characters as so many requests
FILE = FileField("file", "the file", required=True)
COLUMNS = TextField("columns", "of a table: the names or numbers of those to translate")


async def translate_file(request: Request) -> Response:
    """Answers a file with the address of its translation."""
    service: Service = request.app.state.service
    values = await service.admit(request, MAX_FILE_BYTES)
    file, columns = FILE.read(values), COLUMNS.read(values) or None
    source, target = SOURCE.read(values), TARGET.read(values)
    service.files.check_room()
    upload = uploads.Upload(file, columns, target)
    most = FILE_REQUESTS * service.limits.max_chars
    texts = await service.processes.call(uploads.read_texts, upload, most)
    sample = "\n".join(texts.texts)[: service.limits.max_chars]  # to detect its language by
    (text_query,) = service.queries(source, target, [sample])
    if text_query.query is None:  # it is in the target language
        content, report, warnings = file.content, text_query.notices[0].message, []
    else:
        query = text_query.query._replace(links=texts.has_markup)
        translations = await translate_texts(request, [(query, text) for text in texts.texts])
        protector = query.served.protector
        plain = [FinishedText(one.text, one.links) for one in translations]
        written = await service.processes.call(uploads.write, upload, plain, protector)
        content, report = written.content, str(written.report)
        warnings = [*too_long(translations), *notices.of_report(written.report)]
    name = translated_name(file.name, target)
    key = service.files.add(name, content)
    plain_name = re.sub(r"[^A-Za-z0-9_.-]+", "_", name)  # what no proxy changes
    url = request.url_for("download_file", key=key, name=plain_name)
    return JSONResponse({
        "translatedFileUrl": str(url),
        "report": report,
        "warnings": notices.answers([*text_query.notices, *warnings]),
    })  # fmt: skip


def translated_name(name: str, target: str) -> str:
    """Returns the name of a translated file: page.en.html."""
    path = PurePosixPath(name)
    return f"{path.stem[:100]}.{target}{path.suffix}"


async def download_file(request: Request) -> Response:
    """Answers with a translated file."""
    service: Service = request.app.state.service
    file = service.files.get(request.path_params["key"])
    name = urllib.parse.quote(file.name)
    headers = {
        "Content-Security-Policy": "sandbox",
        "Content-Disposition": f"attachment; filename*=UTF-8''{name}",
    }
    return file.content.response("application/octet-stream", headers)


OPERATIONS = (
    Operation(
        "post", "/translate_file", translate_file,
        "Translate a file (LibreTranslate's API): a form with the file, as multipart/form-data.",
        (FILE, SOURCE, TARGET, COLUMNS, KEY),
        answer_fields=(
            Field("translatedFileUrl", "where the translation is", STRING, required=True),
            Field("report", "what was translated, what was left, and why", STRING, required=True),
            Field("warnings", "what was left, lost or added", WARNINGS, required=True),
        ),
    ),
    Operation(
        "get", "/download_file/{key}/{name}", download_file,
        "A translated file, for ten minutes.", media_type="application/octet-stream",
    ),
)  # fmt: skip
