"""What fio-plot has read before it draws: its own way from the command line to its data."""

import json

import fio_plot
from fio_plot.fiolib import getdata

_, settings = fio_plot.get_settings()
routes = getdata.get_routing_dict()
settings = getdata.configure_default_settings(settings, routes, settings["graphtype"])
data = routes[settings["graphtype"]]["get_data"](settings)
print(json.dumps(data, default=str))
