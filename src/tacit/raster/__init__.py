"""Maps of classes from imagery and coarse maps, of any size, window by window."""

from tacit.raster._area import Area, read_area, read_areas
from tacit.raster._belief_run import BeliefRecipe, BeliefSummary, write_belief
from tacit.raster._beliefs import CoarseBelief
from tacit.raster._class_files import classes_of, read_classes
from tacit.raster._classes import CHESAPEAKE, ENVIROATLAS, NLCD, ClassTable
from tacit.raster._codes import CodedMap
from tacit.raster._count import count_rasters
from tacit.raster._evaluate import Evaluation, evaluate
from tacit.raster._grid import Grid, Tile
from tacit.raster._layers import LayerFile, Layers
from tacit.raster._products import (
    Product,
    class_product,
    probability_product,
    share_product,
)
from tacit.raster._raster import Pixels, Raster
from tacit.raster._write import Parts, RasterWriteError, write_cog

__all__ = [
    "CHESAPEAKE",
    "ENVIROATLAS",
    "NLCD",
    "Area",
    "BeliefRecipe",
    "BeliefSummary",
    "ClassTable",
    "CoarseBelief",
    "CodedMap",
    "Evaluation",
    "Grid",
    "LayerFile",
    "Layers",
    "Parts",
    "Pixels",
    "Product",
    "Raster",
    "RasterWriteError",
    "Tile",
    "class_product",
    "classes_of",
    "count_rasters",
    "evaluate",
    "probability_product",
    "read_area",
    "read_areas",
    "read_classes",
    "share_product",
    "write_belief",
    "write_cog",
]
