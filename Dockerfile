# The server in a container, without TensorFlow; see docs/operations.md. The run comes as a volume,
# /runs/NAME, with its folder engine/: translate with it once before.
#
#     docker build -t translator .
#     docker run -p 8765:8765 -v ./runs:/runs:ro -e NMT_RUN=/runs/mine translator

FROM python:3.11-slim-bookworm AS packages
RUN python -m venv /venv
COPY constraints.txt /
# What translating by CTranslate2 needs of requirements.txt, and the extras serve and documents.
RUN /venv/bin/pip install --no-cache-dir -c /constraints.txt \
    ctranslate2 icu4py numpy protobuf sentencepiece sentencex \
    prometheus-client py3langid python-multipart starlette uvicorn \
    markdown-it-py mdit-py-plugins ruamel.yaml

FROM python:3.11-slim-bookworm
RUN useradd --system --no-create-home --uid 10001 translator
COPY --from=packages /venv /venv
WORKDIR /app
COPY params.py transformer_model.py run_demo.py ./
COPY nmt nmt
COPY data data
ENV PATH=/venv/bin:$PATH PYTHONUNBUFFERED=1 PYTHONDONTWRITEBYTECODE=1 \
    NMT_HOST=0.0.0.0 NMT_ENGINE=ctranslate2 NMT_LOG_FORMAT=json NMT_RELOAD=1
USER translator
EXPOSE 8765
STOPSIGNAL SIGTERM
HEALTHCHECK --interval=30s --timeout=5s --start-period=60s --retries=3 \
    CMD ["python", "-c", "import urllib.request as r; r.urlopen('http://127.0.0.1:8765/ready', timeout=4)"]
ENTRYPOINT ["python", "run_demo.py", "serve"]
