"""A ResNet-50 defined here, with seeded weights, and exported by torch to ONNX: as `python resnet50.py OUT.onnx`."""
import sys

import torch
from torch import nn


class Bottleneck(nn.Module):
    def __init__(self, inputs: int, width: int, stride: int):
        super().__init__()
        outputs = 4 * width
        self.path = nn.Sequential(
            nn.Conv2d(inputs, width, 1, bias=False), nn.BatchNorm2d(width), nn.ReLU(),
            nn.Conv2d(width, width, 3, stride, 1, bias=False), nn.BatchNorm2d(width), nn.ReLU(),
            nn.Conv2d(width, outputs, 1, bias=False), nn.BatchNorm2d(outputs))
        self.shortcut = nn.Identity() if inputs == outputs and stride == 1 else nn.Sequential(
            nn.Conv2d(inputs, outputs, 1, stride, bias=False), nn.BatchNorm2d(outputs))

    def forward(self, x):
        return torch.relu(self.path(x) + self.shortcut(x))


def resnet50(classes: int = 1000) -> nn.Module:
    layers: list[nn.Module] = [nn.Conv2d(3, 64, 7, 2, 3, bias=False), nn.BatchNorm2d(64), nn.ReLU(), nn.MaxPool2d(3, 2, 1)]
    inputs = 64
    for width, blocks, stride in ((64, 3, 1), (128, 4, 2), (256, 6, 2), (512, 3, 2)):
        for block in range(blocks):
            layers.append(Bottleneck(inputs, width, stride if block == 0 else 1))
            inputs = 4 * width
    return nn.Sequential(*layers, nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(inputs, classes))


def seeded() -> nn.Module:
    """With weights of a trained net's size, and batch statistics that keep activations in range."""
    torch.manual_seed(0)
    model = resnet50().eval()
    for module in model.modules():
        if isinstance(module, nn.Conv2d):
            nn.init.kaiming_normal_(module.weight, mode="fan_out", nonlinearity="relu")
        elif isinstance(module, nn.BatchNorm2d):
            nn.init.uniform_(module.weight, 0.5, 1.0)
            nn.init.normal_(module.bias, 0, 0.1)
            nn.init.normal_(module.running_mean, 0, 0.1)
            nn.init.uniform_(module.running_var, 0.5, 1.5)
    model.train()
    with torch.no_grad():  # the batch statistics of noise
        for module in model.modules():
            if isinstance(module, nn.BatchNorm2d):
                module.momentum = 1.0
        model(torch.randn(4, 3, 224, 224))
    return model.eval()


def export(path: str) -> None:
    torch.onnx.export(seeded(), (torch.zeros(1, 3, 224, 224),), path, input_names=["x"], output_names=["y"], dynamo=False, opset_version=17)


if __name__ == "__main__":
    export(sys.argv[1])
