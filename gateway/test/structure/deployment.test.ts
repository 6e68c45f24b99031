import { createHash } from 'node:crypto';
import { existsSync, globSync, readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { parse, parseAllDocuments } from 'yaml';
import { parseConfig } from '#config/index.ts';

/* Whether the image, compose.yaml, the unit and the manifests fit the gateway, its documentation, and each other. */

interface Probe {
  readonly httpGet: { readonly path: string; readonly port: string };
}

interface Container {
  readonly securityContext: object;
  readonly volumeMounts: readonly { readonly name: string; readonly mountPath: string }[];
  readonly ports: readonly { readonly name: string; readonly containerPort: number }[];
  readonly startupProbe: Probe;
  readonly readinessProbe: Probe;
  readonly livenessProbe: Probe;
}

/** The parts of every kind that these tests read. */
interface Manifest {
  readonly kind: string;
  readonly metadata: { readonly name: string };
  readonly data: Readonly<Record<string, string>>;
  readonly spec: {
    readonly clusterIP?: string;
    readonly serviceName: string;
    readonly selector: { readonly matchLabels: object };
    readonly ports: readonly { readonly targetPort: string }[];
    readonly volumeClaimTemplates: readonly { readonly metadata: { readonly name: string } }[];
    readonly template: {
      readonly metadata: { readonly labels: object };
      readonly spec: {
        readonly terminationGracePeriodSeconds: number;
        readonly securityContext: { readonly runAsUser: number; readonly fsGroup: number };
        readonly containers: readonly [Container];
        readonly volumes: readonly {
          readonly name: string;
          readonly configMap: { readonly name: string };
        }[];
      };
    };
  };
}

interface Service {
  readonly profiles?: readonly string[];
  readonly volumes?: readonly string[];
  readonly read_only?: boolean;
  readonly cap_drop?: readonly string[];
  readonly stop_grace_period?: string;
  readonly networks?: { readonly cluster: { readonly ipv4_address?: string } };
}

const read = (file: string): string => readFileSync(file, 'utf8');

const manifests = globSync('deploy/kubernetes/*.yaml').flatMap((file) =>
  parseAllDocuments(read(file)).map((document) => document.toJS() as Manifest),
);
const compose = parse(read('compose.yaml'), { merge: true }) as {
  readonly services: Readonly<Record<string, Service>>;
};
const dockerfile = read('Dockerfile');

function manifest(kind: string, name = 'sluice'): Manifest {
  const found = manifests.find((each) => each.kind === kind && each.metadata.name === name);
  if (found === undefined) throw new Error(`no ${kind} ${name}`);
  return found;
}

const statefulSet = manifest('StatefulSet').spec;
const pod = statefulSet.template.spec;
const [container] = pod.containers;

const environment = {
  SLUICE_MASTER_KEY: createHash('sha256').update('master').digest('base64'),
  POSTGRES_PASSWORD: 'password',
  PG_PASSWORD: 'password',
  METRICS_TOKEN: 'a'.repeat(48),
};
const configurations = {
  image: read('deploy/container/sluice.yaml'),
  cluster: read('deploy/container/cluster.yaml'),
  kubernetes: manifest('ConfigMap').data['sluice.yaml'] ?? '',
};

test.each(Object.entries(configurations))(
  'the configuration of %s is right, listens beyond its own machine and writes to /data',
  (name, text) => {
    const { server, storage, secrets } = parseConfig(text, { file: name, environment });
    expect(server.host).toBe('0.0.0.0');
    expect(storage.dataDir).toBe('/data');
    if (storage.url.startsWith('postgres:')) expect(secrets.masterKey).not.toBeNull();
  },
);

test('whoever stops a gateway waits longer than it drains', () => {
  const { drainTimeout } = parseConfig(configurations.kubernetes, { file: '', environment }).server;
  // It serves new connections for five seconds more.
  const longest = drainTimeout / 1_000 + 5;
  const [, unit] = /^TimeoutStopSec=(\d+)$/m.exec(read('deploy/systemd/sluice.service')) ?? [];
  expect(Number(unit)).toBeGreaterThan(longest);
  expect(pod.terminationGracePeriodSeconds).toBeGreaterThan(longest);
  for (const name of ['sluice', 'node1', 'node2']) {
    const grace = compose.services[name]?.stop_grace_period ?? '';
    expect(Number.parseInt(grace, 10)).toBeGreaterThan(longest);
    expect(grace).toMatch(/^\d+s$/);
  }
});

test('a gateway in a container has a user without rights, and can write only to /data', () => {
  const user = Number(/^USER (\d+):\1$/m.exec(dockerfile)?.[1]);
  expect(user).toBe(65_532);
  expect(dockerfile).toContain(`--chown=${user}:${user} /data /data\n`);
  expect(pod.securityContext).toMatchObject({ runAsUser: user, fsGroup: user, runAsNonRoot: true });
  expect(container.securityContext).toEqual({
    allowPrivilegeEscalation: false,
    readOnlyRootFilesystem: true,
    capabilities: { drop: ['ALL'] },
  });
  for (const name of ['sluice', 'node1', 'node2']) {
    expect(compose.services[name]).toMatchObject({ read_only: true, cap_drop: ['ALL'] });
  }
});

test('Kubernetes asks paths that exist, restarts no node because of a 503, and finds every part by its name', () => {
  const { startupProbe, readinessProbe, livenessProbe } = container;
  const paths = [startupProbe, readinessProbe, livenessProbe].map(({ httpGet }) => httpGet.path);
  expect(paths).toEqual(['/health', '/ready', '/']);
  const routes = read('gateway/src/edge/endpoints/health/routes.ts');
  for (const path of paths) expect(routes).toContain(`scope.get('${path}',`);

  const { labels } = statefulSet.template.metadata;
  expect(statefulSet.selector.matchLabels).toEqual(labels);
  expect(manifest('PodDisruptionBudget').spec.selector.matchLabels).toEqual(labels);
  const [service, nodes] = [manifest('Service'), manifest('Service', statefulSet.serviceName)];
  expect(nodes.spec.clusterIP).toBe('None');
  for (const { spec } of [service, nodes]) {
    expect(spec.selector).toEqual(labels);
    expect(spec.ports.map(({ targetPort }) => targetPort)).toEqual(['http']);
  }
  expect(container.ports).toEqual([{ name: 'http', containerPort: 8080 }]);
  const volumes = [
    ...statefulSet.volumeClaimTemplates.map(({ metadata }) => metadata.name),
    ...pod.volumes.map(({ name }) => name),
  ];
  expect(container.volumeMounts.map(({ name }) => name)).toEqual(volumes);
  expect(pod.volumes.map(({ configMap }) => configMap.name)).toEqual(['sluice']);
});

test('the variables of the configuration are in the example of the Secret', () => {
  const { stringData } = parse(read('deploy/kubernetes/examples/secret.yaml')) as {
    readonly stringData: object;
  };
  const names = configurations.kubernetes.matchAll(/\$\{(\w+)/g).map(([, name = '']) => name);
  expect(Object.keys(stringData).toSorted()).toEqual([...names].toSorted());
});

test('nginx of compose.yaml has the documented configuration, with the addresses of the nodes', () => {
  const [, documented = ''] = /```nginx\n([^]*?)```/.exec(read('docs/several-nodes.md')) ?? [];
  const conf = read('deploy/container/nginx.conf');
  expect(conf.replace(/^#.*\n/, '').replaceAll('172.28.52.', '10.0.0.')).toBe(documented);
  const addresses = ['node1', 'node2'].map(
    (name) => compose.services[name]?.networks?.cluster.ipv4_address,
  );
  const upstreams = conf.matchAll(/^ +server ([\d.]+):8080/gm).map(([, address]) => address);
  expect([...new Set(upstreams)]).toEqual(addresses);
  const { server } = parseConfig(configurations.cluster, { file: '', environment });
  expect(server.trustedProxies).toEqual([
    compose.services['nginx']?.networks?.cluster.ipv4_address,
  ]);
});

test('the files that compose.yaml and the Dockerfile take from the checkout exist', () => {
  const mounted = Object.values(compose.services).flatMap(({ volumes = [] }) =>
    volumes.map((volume) => volume.split(':')[0] ?? '').filter((path) => path.startsWith('./')),
  );
  const copied = dockerfile
    .matchAll(/^COPY (?!--from)(.+) \S+$/gm)
    .flatMap(([, paths = '']) => paths.split(' '));
  // The operator makes the certificate.
  const paths = [...mounted, ...copied].filter((path) => !path.startsWith('./tls/'));
  expect(paths.filter((path) => !existsSync(path))).toEqual([]);
  const ignored = read('.dockerignore').split('\n');
  const kept = ignored.filter((line) => line.startsWith('!')).map((line) => line.slice(1));
  expect(kept.filter((path) => !existsSync(path))).toEqual([]);
});
