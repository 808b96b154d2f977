"""What must hold of listeners: all get the records of training, and none changes the run."""

import pytest
from helpers import pretend_epoch, sentences, write_tsv
from tensorboard.backend.event_processing.event_accumulator import EventAccumulator
from tensorboard.plugins.hparams.metadata import SESSION_START_INFO_TAG
from tensorboard.plugins.hparams.plugin_data_pb2 import HParamsPluginData

import nmt
from nmt.training.listeners import (
    EpochRecord,
    FinalRecord,
    Function,
    Listener,
    Listeners,
    RunRecord,
    StepRecord,
    curves,
)
from nmt.training.run_folder import RunFolder
from nmt.training.tensorboard import TensorBoard, drop_later_events

STEP = StepRecord(20, 2.0, 0.5, 1.0, 1000.0, 0.1)
ROW = dict(epoch=1, loss=2.0, accuracy=0.5, val_loss=3.0, val_accuracy=0.25)
EPOCH = EpochRecord(30, ROW, [("um|", "one", "two")])
FINAL = FinalRecord(dict(loss=2.5, accuracy=0.375))


class Closing(Listener):
    """Notes whether it is closed."""

    is_closed = False

    def close(self):
        self.is_closed = True


def test_the_curves_of_a_record_are_its_numbers_by_name():
    assert curves(STEP)["training/learning_rate"] == 0.1
    assert curves(EPOCH) == {"validation/loss": 3.0, "validation/accuracy": 0.25}
    assert curves(FINAL) == {"final/loss": 2.5, "final/accuracy": 0.375}


def test_tensorboard_gets_the_options_once_and_the_final_result(tmp_path):
    folder = RunFolder(tmp_path)
    for step in (0, 30):  # begun, and resumed
        drop_later_events(folder.logs, step if step else -1)
        listener = TensorBoard()
        listener.begin(RunRecord(folder, {"dff": 32, "schedule": "cosine"}, step))
        for record in (STEP, EPOCH) if not step else (FINAL,):
            listener.take(record)
        listener.close()
    events = EventAccumulator(str(folder.logs)).Reload()
    content = events.SummaryMetadata(SESSION_START_INFO_TAG).plugin_data.content
    options = HParamsPluginData.FromString(content).session_start_info.hparams
    assert options["dff"].number_value == 32
    assert options["schedule"].string_value == "cosine"
    (final,) = events.Tensors("final/loss")
    assert final.step == 30
    assert {"training/loss", "validation/loss", "translations"} <= {*events.Tags()["tensors"]}
    files = [path.read_bytes() for path in folder.logs.glob("events*")]
    assert sum(data.count(SESSION_START_INFO_TAG.encode()) for data in files) == 1


@pytest.mark.usefixtures("unscored", "eagerly")
def test_what_a_function_raises_ends_training_with_the_epoch_saved(tmp_path, monkeypatch):
    monkeypatch.setattr("nmt.training.loop.Epochs.train_on", pretend_epoch)
    rows = []

    def stop(row):
        rows.append(row)
        if row["epoch"] == 1:
            raise ArithmeticError("pruned")

    other = Closing()
    listeners = Listeners([other, Function(stop)])
    listeners.begin(RunRecord(RunFolder(tmp_path / "a"), {}, 0))
    with pytest.raises(ArithmeticError, match="pruned"), listeners:
        listeners.take(EPOCH)
    assert other.is_closed
    corpus = write_tsv(tmp_path / "numbers.tsv", sentences(300))
    sizes = dict(num_layers=1, d_model=16, dff=32, num_heads=2, vocab_size=320, epochs=2)
    arguments = dict(dataset=corpus, plots=False, on_epoch=stop, **sizes)
    with pytest.raises(ArithmeticError, match="pruned") as kept:  # as a notebook keeps the last one
        nmt.train(tmp_path / "run", **arguments)
    trained = nmt.train(tmp_path / "run", **arguments)
    assert kept.tb
    assert [row["epoch"] for row in rows] == [1, 1, 2]
    assert trained.history == rows[1:]
