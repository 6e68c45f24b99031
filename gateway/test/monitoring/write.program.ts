import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname } from 'node:path';
import { dashboard, files, rules, ruleTests, toYaml, withAlerts } from './files.ts';

/* Writes the rules, their tests, the dashboard and the table of alerts: `npm run monitoring`. */

for (const file of Object.values(files)) mkdirSync(dirname(file), { recursive: true });
writeFileSync(files.rules, toYaml(rules));
writeFileSync(files.ruleTests, toYaml(ruleTests));
writeFileSync(files.dashboard, `${JSON.stringify(dashboard, null, 2)}\n`);
writeFileSync(files.page, withAlerts(readFileSync(files.page, 'utf8')));
