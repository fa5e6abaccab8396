"""dougong.Device: memory and errors, on every device."""
import numpy as np
import pytest

import dougong


@pytest.mark.parametrize("spec", ["null", "cpu", "npu:tiny"])
def test_arrays_come_back(spec):
    device = dougong.Device(spec)
    array = np.arange(1000, dtype=np.int16).reshape(10, 100)
    address = device.put(array)
    np.testing.assert_array_equal(device.get(address, (10, 100), np.int16), array)
    device.free(address)
    with pytest.raises(dougong.Error, match="is in no allocation"):
        device.get(address, (1,), np.int16)


def test_properties():
    assert dougong.Device("npu:tiny").properties["machine"] == "tiny"
    assert dougong.Device("cpu:3").properties["cores"] == 3


def test_unknown_device_says_what_there_is():
    with pytest.raises(dougong.Error, match="devices are cpu, cpu:THREADS, npu"):
        dougong.Device("abacus")


def test_out_of_memory_has_its_status():
    with pytest.raises(dougong.Error) as error:
        dougong.Device("null").allocate(2**62)
    assert error.value.status == "out of memory"
