#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Holds what `vmnuma export` prints against the schemas of the programs that read it, and the schemas against documents
that their readers would refuse.

Usage: schemas_test.py GOLDEN_DIR
"""
import copy
import json
import pathlib
import sys
import unittest

import jsonschema

GOLDEN = pathlib.Path(sys.argv.pop())


def read(name):
    return json.loads((GOLDEN / name).read_text())


def validator(name):
    schema = read(f"{name}.schema.json")
    jsonschema.Draft7Validator.check_schema(schema)
    return jsonschema.Draft7Validator(schema)


def changed(document, path, value):
    """The document with another value at the path; None takes the member away."""
    document = copy.deepcopy(document)
    *way, last = path
    at = document
    for step in way:
        at = at[step]
    if value is None:
        del at[last]
    else:
        at[last] = value
    return document


class SchemaTest(unittest.TestCase):
    def test_every_document_is_valid(self):
        for kind in ("nrt", "openstack"):
            documents = sorted(GOLDEN.glob(f"*.{kind}.json"))
            self.assertGreaterEqual(len(documents), 3)
            for path in documents:
                with self.subTest(path.name):
                    validator(kind).validate(json.loads(path.read_text()))

    def refuses(self, kind, document, path, value):
        with self.subTest(kind=kind, path=path, value=value):
            self.assertFalse(validator(kind).is_valid(changed(document, path, value)))

    def test_topologies_that_kubernetes_would_refuse_are_not(self):
        document = read("two-nodes.nrt.json")
        resource = ("zones", 0, "resources", 0)
        self.refuses("nrt", document, ("zones",), None)
        self.refuses("nrt", document, ("zones", 0, "name"), None)
        self.refuses("nrt", document, ("zones", 0, "type"), None)
        self.refuses("nrt", document, ("zones", 0, "costs", 0, "value"), "10")
        self.refuses("nrt", document, ("zones", 0, "attributes", 0, "value"), 3)
        self.refuses("nrt", document, (*resource, "available"), None)
        self.refuses("nrt", document, (*resource, "name"), "vmnuma/pci/10de")
        self.refuses("nrt", document, ("attributes", 0, "value"), None)
        self.refuses("nrt", document, ("topologyPolicies", 0), 1)
        self.refuses("nrt", document, (*resource, "capacity"), "4 GiB")
        self.refuses("nrt", document, (*resource, "capacity"), 1.5)
        self.refuses("nrt", document, ("metadata", "name"), "KVM_1")

    def test_inventories_that_placement_would_refuse_are_not(self):
        document = read("two-nodes.openstack.json")
        inventories = ("providers", 0, "inventories", "inventories")
        self.refuses("openstack", document, ("providers", 0, "resource_provider", "name"), "x" * 201)
        self.refuses("openstack", document, ("providers", 0, "inventories", "resource_provider_generation"), None)
        self.refuses("openstack", document, (*inventories, "VCPU", "total"), 0)
        self.refuses("openstack", document, (*inventories, "VCPU", "total"), None)
        self.refuses("openstack", document, (*inventories, "MEMORY_MB", "total"), 2**31)
        self.refuses("openstack", document, (*inventories, "VCPU", "reserved"), -1)
        self.refuses("openstack", document, (*inventories, "VCPU", "used"), 1)
        self.refuses("openstack", document, (*inventories, "vcpu"), {"total": 1})

    def test_no_more_is_available_than_allocatable_nor_that_than_there_is(self):
        for path in GOLDEN.glob("*.nrt.json"):
            for zone in json.loads(path.read_text())["zones"]:
                names = [resource["name"] for resource in zone["resources"]]
                self.assertEqual(len(names), len(set(names)), "a resource has one entry")
                for resource in zone["resources"]:
                    amounts = [int(resource[key]) for key in ("available", "allocatable", "capacity")]
                    self.assertEqual(amounts, sorted(amounts), f"{path.name}: {resource}")

    def test_zones_cost_each_other_by_names_that_are_there(self):
        for path in GOLDEN.glob("*.nrt.json"):
            zones = json.loads(path.read_text())["zones"]
            names = [zone["name"] for zone in zones]
            self.assertEqual(len(names), len(set(names)))
            for zone in zones:
                self.assertEqual([cost["name"] for cost in zone["costs"]], names)


if __name__ == "__main__":
    unittest.main()
