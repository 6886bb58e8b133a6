import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import * as k8s from "@kubernetes/client-node";
import { Fairlead } from "./fairlead.mjs";

let fairlead;

function client({ kubeconfig }, api = k8s.CoreV1Api) {
  const config = new k8s.KubeConfig();
  config.loadFromFile(kubeconfig);
  return config.makeApiClient(api);
}

const configMap = (name) => ({ metadata: { name } });

before(async () => {
  fairlead = await Fairlead.start();
  const base = client(await fairlead.command("create base"));
  await base.createNamespacedConfigMap({ namespace: "default", body: configMap("fixture") });
});

after(async () => {
  assert.equal(await fairlead.stop(), 0);
});

async function names(core) {
  const { items } = await core.listNamespacedConfigMap({ namespace: "default" });
  return items.map((map) => map.metadata.name).filter((name) => name !== "kube-root-ca.crt");
}

test("each test has the fixtures, and a control plane of its own", async () => {
  const one = client(await fairlead.command("fork one --from=base"));
  const two = client(await fairlead.command("fork two --from=base"));
  await one.createNamespacedConfigMap({ namespace: "default", body: configMap("own") });
  assert.deepEqual(await names(one), ["fixture", "own"]);
  assert.deepEqual(await names(two), ["fixture"]);
  await fairlead.command("reset one");
  assert.deepEqual(await names(one), ["fixture"]);
  await fairlead.command("delete one two");
});

test("controllers, scheduler and nodes run in it", async () => {
  const cluster = await fairlead.command("fork web --from=base");
  const labels = { app: "web" };
  const config = new k8s.KubeConfig();
  config.loadFromFile(cluster.kubeconfig);
  await config.makeApiClient(k8s.AppsV1Api).createNamespacedDeployment({
    namespace: "default",
    body: {
      metadata: { name: "web" },
      spec: {
        replicas: 2,
        selector: { matchLabels: labels },
        template: { metadata: { labels }, spec: { containers: [{ name: "web", image: "nginx" }] } },
      },
    },
  });
  await new Promise((resolve, reject) => {
    const watch = new k8s.Watch(config);
    const request = watch.watch("/apis/apps/v1/namespaces/default/deployments", {}, (_, deployment) => {
      if (deployment.status?.readyReplicas === 2) {
        request.then((controller) => controller.abort());
        resolve();
      }
    }, (err) => reject(err ?? new Error("the watch ended")));
  });
});

test("a command that fails tells why", async () => {
  await assert.rejects(fairlead.command("fork x --from=gone"), { reason: "Invalid", message: /Not found: "gone"/ });
  await assert.rejects(fairlead.command("frok x"), { reason: "Usage" });
});
