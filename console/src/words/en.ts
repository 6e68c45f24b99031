import { app, palette, link, states, two } from './en/app.ts';
import { signIn } from './en/sign-in.ts';
import { range, lists, data } from './en/lists.ts';
import { requests, request, parts, results, outcomes } from './en/requests.ts';
import { keys } from './en/keys.ts';
import { clients } from './en/clients.ts';
import { overview, left, attention } from './en/overview.ts';
import { explore } from './en/usage.ts';
import { models } from './en/models.ts';
import { playground } from './en/playground.ts';
import { settings } from './en/settings.ts';
import { welcome } from './en/welcome.ts';
import { health } from './en/health.ts';
import { records } from './en/records.ts';
import { channels } from './en/channels.ts';
import { explain } from './en/explain.ts';
import { limits } from './en/limits.ts';
import { people } from './en/people.ts';
import { teams } from './en/teams.ts';

/** Every text of the console, by page. `{{name}}` is filled in. */
export const en = {
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
} as const;
