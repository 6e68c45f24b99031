import { runsOfRequests, sizeOfSources } from './measures.ts';

/* How large the gateway is: `npm run size`; with `-- --functions`, every function of each request. */

const { files, lines, splinters, strangers } = sizeOfSources();
console.log(`gateway/src, without tests: ${lines} lines in ${files} files`);
console.log(`files of at most 20 lines: ${splinters}`);
console.log(`files that name 'generate-content' outside its own places: ${strangers.length}`);
for (const name of strangers) console.log(`  ${name}`);
for (const { name, functions, files: used } of await runsOfRequests()) {
  console.log(`${name}: ${functions.length} functions in ${used} files`);
  if (!process.argv.includes('--functions')) continue;
  for (const [file, those] of Map.groupBy(functions, (each) => each.file)) {
    console.log(`  ${file} (${those.length})`);
    for (const { line } of those) console.log(`      ${line}`);
  }
}
