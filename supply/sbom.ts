import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { root, runtimePackages } from './lock.ts';

/*
 * `npm run sbom`: the runtime packages and those built into the console as CycloneDX, made by npm from the lock file.
 * The same lock file gives the same text: the document's number is derived from its contents, and it has no time.
 */

interface Component {
  readonly 'bom-ref': string;
  readonly purl: string;
  readonly properties?: readonly { readonly name: string; readonly value: string }[];
}

interface Bom {
  serialNumber?: string;
  metadata: { timestamp?: string; component: { name: string; purl: string } };
  components: Component[];
  dependencies: { ref: string; dependsOn: string[] }[];
}

// Not `--omit=dev`: npm would also leave out packages that a development tool shares, such as undici.
const text = execFileSync('npm', ['sbom', '--sbom-format=cyclonedx', '--package-lock-only'], {
  cwd: root,
  encoding: 'utf8',
  stdio: ['ignore', 'pipe', 'ignore'],
  maxBuffer: 2 ** 26,
});
const bom = JSON.parse(text) as Bom;
delete bom.metadata.timestamp;
delete bom.serialNumber;
// npm names the root after its folder, which depends on the checkout.
bom.metadata.component.name = nameOf(bom.metadata.component.purl);

execFileSync(process.execPath, ['console/build.ts'], { cwd: root });
const inPages = readFileSync(join(root, 'console/dist/licenses.md'), 'utf8').matchAll(
  /^## (\S+) - (\d\S*) \(/gm,
);
const shipped = new Set([
  ...runtimePackages().map(({ name, version }) => `${name}@${version}`),
  ...Array.from(inPages, ([, name, version]) => `${name}@${version}`),
]);
bom.components = bom.components
  .filter(({ purl }) => shipped.has(decodeURIComponent(purl.replace(/^pkg:npm\//, ''))))
  // npm marks a package as a tool's if tools use it too.
  .map(({ properties = [], ...component }) => ({
    ...component,
    properties: properties.filter(({ name }) => name !== 'cdx:npm:package:development'),
  }));
const listed = new Set(bom.components.map((component) => component['bom-ref']));
const workspaces = /^(sluice-workspace|gateway|console|simulator)@/;
bom.dependencies = bom.dependencies
  .filter(({ ref }) => listed.has(ref) || workspaces.test(ref))
  .map(({ ref, dependsOn }) => ({ ref, dependsOn: dependsOn.filter((each) => listed.has(each)) }));

function nameOf(purl: string): string {
  return purl.replace(/^pkg:npm\/(.*)@.*$/, '$1');
}

const digest = createHash('sha256').update(JSON.stringify(bom)).digest('hex');
// Version 8 of RFC 9562: 122 bits of one's own.
const variant = '89ab'[Number.parseInt(digest[16]!, 16) % 4]!;
const uuid = `${digest.slice(0, 8)}-${digest.slice(8, 12)}-8${digest.slice(13, 16)}-${variant}${digest.slice(17, 20)}-${digest.slice(20, 32)}`;
bom.serialNumber = `urn:uuid:${uuid}`;
process.stdout.write(`${JSON.stringify(bom, null, 2)}\n`);
