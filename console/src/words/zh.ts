import type { Words } from './index.ts';
import { app, palette, link, states, two } from './zh/app.ts';
import { signIn } from './zh/sign-in.ts';
import { range, lists, data } from './zh/lists.ts';
import { requests, request, parts, results, outcomes } from './zh/requests.ts';
import { keys } from './zh/keys.ts';
import { clients } from './zh/clients.ts';
import { overview, left, attention } from './zh/overview.ts';
import { explore } from './zh/usage.ts';
import { models } from './zh/models.ts';
import { playground } from './zh/playground.ts';
import { settings } from './zh/settings.ts';
import { welcome } from './zh/welcome.ts';
import { health } from './zh/health.ts';
import { records } from './zh/records.ts';
import { channels } from './zh/channels.ts';
import { explain } from './zh/explain.ts';
import { limits } from './zh/limits.ts';
import { people } from './zh/people.ts';
import { teams } from './zh/teams.ts';

export const zh: Words = {
  app,
  palette,
  signIn,
  states,
  two,
  range,
  lists,
  requests,
  request,
  parts,
  keys,
  results,
  outcomes,
  overview,
  left,
  models,
  playground,
  link,
  settings,
  welcome,
  health,
  records,
  channels,
  explain,
  limits,
  people,
  teams,
  data,
  explore,
  attention,
  clients,
};
