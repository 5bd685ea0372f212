"""The doctor: healthy machines pass, and each thing that can be wrong is named with what to do."""

import os

import jax
import pytest

from pc3d.benchmark import doctor
from pc3d.benchmark.doctor import Finding
from pc3d.cli import main


def test_a_healthy_machine_passes(monkeypatch, capsys):
    monkeypatch.setattr(doctor, "same_bits", lambda: Finding("self-check", "fine"))
    assert main(["doctor"]) == 0
    printed = capsys.readouterr()
    for topic in ("versions", "jax", "threads", "compilation cache", "free disk", "extras", "tune"):
        assert topic in printed.out
    assert printed.err == ""


def test_trouble_is_one_sentence_and_exit_code_1(monkeypatch, capsys):
    monkeypatch.setattr(doctor, "same_bits", lambda: Finding("self-check", "bad", "unequal results"))
    assert main(["doctor"]) == 1
    assert capsys.readouterr().err == "pc3d: self-check: unequal results\n"


def test_the_same_update_twice_has_the_same_digest():
    assert doctor._small_update() == doctor._small_update()


@pytest.mark.parametrize(("bits", "trouble"), [("aaaa", False), ("abaa", True), ("aabb", True)])
def test_unequal_bits_are_trouble(monkeypatch, bits, trouble):
    digests = iter(bits)
    monkeypatch.setattr(doctor, "_small_update", lambda: next(digests))
    assert bool(doctor.same_bits().trouble) is trouble


def test_the_second_program_is_not_the_first_one_from_the_cache(monkeypatch):
    used = []

    def update():
        used.append(jax.config.jax_enable_compilation_cache)
        return "bits"

    monkeypatch.setattr(doctor, "_small_update", update)
    doctor.same_bits()
    assert not any(used)
    assert jax.config.jax_enable_compilation_cache


@pytest.mark.parametrize("name", ["NPROC", "OMP_NUM_THREADS", "XLA_FLAGS"])
def test_more_threads_are_trouble(monkeypatch, name):
    assert not doctor.threads().trouble
    monkeypatch.setenv(name, "2")
    assert name in doctor.threads().trouble


def test_a_cache_that_others_can_write_to_is_trouble(tmp_path):
    cache = tmp_path / "xla"
    cache.mkdir(mode=0o700)
    (cache / "program").write_bytes(bytes(2**20))
    assert doctor.compilation_cache(cache) == Finding("compilation cache", f"{cache}, 1 MB")
    cache.chmod(0o777)
    assert "others can write" in doctor.compilation_cache(cache).trouble
    assert "not made yet" in doctor.compilation_cache(tmp_path / "none").found


def test_a_cache_of_somebody_else_is_trouble(tmp_path, monkeypatch):
    other = os.getuid() + 1
    monkeypatch.setattr(os, "getuid", lambda: other)
    assert "others can write" in doctor.compilation_cache(tmp_path).trouble


def test_a_full_disk_is_trouble(tmp_path, monkeypatch):
    assert not doctor.disk(tmp_path).trouble
    monkeypatch.setattr(doctor, "LITTLE_SPACE", 2**60)
    assert "is free" in doctor.disk(tmp_path).trouble


def test_extras_that_are_not_whole_are_named(monkeypatch):
    monkeypatch.setattr(doctor, "_installed", lambda package: package != "onnx")
    assert doctor.extras().found.endswith("; not installed: export")
