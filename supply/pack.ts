import { execFileSync } from 'node:child_process';
import { cpSync, globSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { stripTypeScriptTypes } from 'node:module';
import { dirname, join } from 'node:path';
import { type LockedPackage, lockedPackages, root } from './lock.ts';

/*
 * `npm run pack`: writes `dist/sluice-<version>.tgz`, which `npm install` and `npx` take. The same commit gives the same
 * file. It has the folders of the checkout; in place of each TypeScript file stands what Node itself runs of it, under
 * the ending that Node accepts below `node_modules`. Lines and columns stay, so it needs no source maps.
 */

const output = join(root, 'dist');
const staging = join(output, 'package');

interface Manifest {
  readonly version: string;
  readonly description: string;
  readonly license: string;
  readonly engines: object;
  readonly dependencies: Readonly<Record<string, string>>;
  readonly optionalDependencies: Readonly<Record<string, string>>;
}

const read = (file: string): string => readFileSync(join(root, file), 'utf8');
const npm = (args: readonly string[], folder = root): string =>
  execFileSync('npm', args, {
    cwd: folder,
    encoding: 'utf8',
    stdio: ['ignore', 'pipe', 'inherit'],
  });

function write(file: string, content: string | Uint8Array): void {
  const path = join(staging, file);
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(path, content);
}

/** The names of modules, which are the only texts of the form `./….ts` or `#….ts`. */
const moduleName = /(?<=(['"`])(?:\.{1,2}\/|#)[^'"`\n]*\.)ts(?=\1)/g;
const named = (code: string): string => code.replace(moduleName, 'js');

rmSync(staging, { recursive: true, force: true });
for (const file of globSync('{gateway/{src,importers},simulator/src}/**/*.*', { cwd: root })) {
  if (file.endsWith('.test.ts') || file.includes('/fixtures/')) continue;
  if (file.endsWith('.ts')) {
    write(file.replace(/ts$/, 'js'), named(stripTypeScriptTypes(read(file))));
  } else write(file, /\.js(on)?$/.test(file) ? named(read(file)) : readFileSync(join(root, file)));
}
for (const folder of ['gateway', 'simulator']) {
  write(`${folder}/package.json`, named(read(`${folder}/package.json`)));
}
execFileSync(process.execPath, ['console/build.ts'], { cwd: root });
for (const file of [
  'console/dist',
  'deploy',
  'docs',
  'CHANGELOG.md',
  'LICENSE',
  'README.md',
  'SECURITY.md',
]) {
  cpSync(join(root, file), join(staging, file), { recursive: true });
}
write('sbom.cdx.json', execFileSync(process.execPath, ['supply/sbom.ts'], { cwd: root }));

const { version, dependencies } = JSON.parse(read('gateway/package.json')) as Manifest;
const { description, license, engines, optionalDependencies } = JSON.parse(
  read('package.json'),
) as Manifest;
const manifest = {
  name: 'sluice',
  version,
  description,
  license,
  type: 'module',
  bin: { sluice: 'gateway/src/main.js' },
  engines,
  dependencies,
  // In the archive, so that every installation has what was tested, and none needs a registry.
  bundleDependencies: Object.keys(dependencies),
  // Node, one for each platform: npm fetches the one that fits.
  optionalDependencies,
};
write('package.json', JSON.stringify(manifest, null, 2));

// The checkout's lock file, as it would be if the gateway stood alone: where two versions of a package are locked, its
// own counts.
const [shared, own] = ['', 'gateway/'].map((folder) =>
  lockedPackages()
    .filter(([path]) => path.startsWith(`${folder}node_modules/`))
    .map(([path, entry]): [string, Partial<LockedPackage>] => [path.slice(folder.length), entry]),
);
const packages = { '': manifest, ...Object.fromEntries([...shared!, ...own!]) };
write('package-lock.json', JSON.stringify({ lockfileVersion: 3, packages }));
npm(['ci', '--omit=optional', '--prefer-offline', '--no-audit', '--ignore-scripts'], staging);
// Nobody compiles against it, Node refuses TypeScript there, and of several builds of a package one runs.
const unused = [
  '**/*.{ts,cts,mts,map,yml}',
  '**/{test,docs,benchmark,benchmarks,examples,.github}',
  'gpt-tokenizer/{cjs,data,src}',
  '@opentelemetry/*/build/{esm,esnext}',
  '@opentelemetry/*/dist/**/*.mjs',
];
for (const path of globSync(unused, { cwd: join(staging, 'node_modules') })) {
  rmSync(join(staging, 'node_modules', path), { recursive: true, force: true });
}
// npm would warn of each that does not run on npm's own Node, which runs none of them.
for (const path of globSync('node_modules/{*,@*/*}/package.json', { cwd: staging })) {
  const { engines: _, ...rest } = JSON.parse(
    readFileSync(join(staging, path), 'utf8'),
  ) as Partial<Manifest>;
  write(path, JSON.stringify(rest, null, 2));
}
rmSync(join(staging, 'package-lock.json'));

npm(['pack', '--silent', '--pack-destination', output, staging]);
console.log(join('dist', `sluice-${version}.tgz`));
