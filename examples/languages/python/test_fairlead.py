import unittest

from fairlead import Client, Error, Fairlead

MAPS = "/api/v1/namespaces/default/configmaps"


def config_map(name):
    return {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": name}}


def names(client):
    items = client.request("GET", MAPS)["items"]
    return [m["metadata"]["name"] for m in items if m["metadata"]["name"] != "kube-root-ca.crt"]


class FairleadTest(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.fairlead = Fairlead()
        base = Client(cls.fairlead.command("create base")["kubeconfig"])
        base.request("POST", MAPS, config_map("fixture"))

    @classmethod
    def tearDownClass(cls):
        assert cls.fairlead.stop() == 0

    def test_forks(self):
        """Each test has the fixtures, and a control plane of its own."""
        one = Client(self.fairlead.command("fork one --from=base")["kubeconfig"])
        two = Client(self.fairlead.command("fork two --from=base")["kubeconfig"])
        one.request("POST", MAPS, config_map("own"))
        self.assertEqual(names(one), ["fixture", "own"])
        self.assertEqual(names(two), ["fixture"])
        self.fairlead.command("reset one")
        self.assertEqual(names(one), ["fixture"])
        self.fairlead.command("delete one two")

    def test_controllers(self):
        """Controllers, scheduler and nodes run in it."""
        client = Client(self.fairlead.command("fork web --from=base")["kubeconfig"])
        path = "/apis/apps/v1/namespaces/default/deployments"
        labels = {"app": "web"}
        client.request(
            "POST",
            path,
            {
                "apiVersion": "apps/v1",
                "kind": "Deployment",
                "metadata": {"name": "web"},
                "spec": {
                    "replicas": 2,
                    "selector": {"matchLabels": labels},
                    "template": {
                        "metadata": {"labels": labels},
                        "spec": {"containers": [{"name": "web", "image": "nginx"}]},
                    },
                },
            },
        )
        for event in client.watch(path):
            if event["object"]["status"].get("readyReplicas") == 2:
                return
        self.fail("the watch ended")

    def test_failure(self):
        """A command that fails tells why."""
        with self.assertRaises(Error) as failed:
            self.fairlead.command("fork x --from=gone")
        self.assertEqual(failed.exception.reason, "Invalid")
        self.assertIn('Not found: "gone"', str(failed.exception))
        with self.assertRaises(Error) as failed:
            self.fairlead.command("frok x")
        self.assertEqual(failed.exception.reason, "Usage")


if __name__ == "__main__":
    unittest.main()
