export const overview = {
  title: 'Overview',
  spend: 'Spend',
  requests: 'Requests',
  success: 'Succeeded',
  firstToken: 'First token, p50 · p95',
  cached: 'Input from caches',
  against: '{{change}} against {{before}}',
  nothingBefore: 'nothing in the time before',
  before: 'before: {{before}}',
  points: '{{number}} points',
  empty: 'Nothing has been used in this range.',
  when: 'Time',
  lastFailures: 'Last failures',
  noFailures: 'None in this range.',
  all: 'All {{number}}',
  why: 'Why',
} as const;

export const left = {
  title: 'What you have left',
  usd: 'USD left',
  nearest: '{{name}} is the nearest limit.',
  nothing: 'Nothing is left: {{name}} is used up',
  shared_one: 'shared by {{count}}',
  shared_other: 'shared by {{count}}',
  key: 'Key {{name}}',
  balance: 'Your balance',
  quota: 'Your quota, in total',
  team: {
    balance: 'Balance of {{name}}',
    daily: '{{name}}, today',
    monthly: '{{name}}, this month',
    total: '{{name}}, in total',
    member: 'Your limit in {{name}}',
  },
} as const;

export const attention = {
  title: 'Needs attention',
  none: 'Nothing at this moment.',
  windows: { daily: 'today', monthly: 'this month', total: 'in total' },
  channel_failing: {
    title: '{{name}} fails',
    text_one: 'Since {{time}}, {{number}} attempt failed: {{error}}.',
    text_other: 'Since {{time}}, {{number}} attempts failed: {{error}}.',
    way: 'See health',
  },
  channel_unsteady: {
    title: '{{name}} is unsteady',
    text: '{{number}} attempts failed in the last 24 hours, the last one: {{error}}.',
    way: 'See health',
  },
  price_missing: {
    title: '{{name}} has no price',
    text: 'Requests for it are refused, because they could not be charged.',
    way: 'Give a price',
  },
  budget_high: {
    title: 'Budget of {{name}} at {{percent}} %',
    text: '{{spent}} of {{limit}} USD {{window}}.',
    way: 'See its use',
  },
  key_expiring: {
    title: 'Key {{name}} ends soon',
    text: 'It ends on {{time}}.',
    way: 'See keys',
  },
  key_exhausted: {
    title: 'Key {{name}} is used up',
    text: '{{spent}} of {{limit}} USD are spent, so its requests are refused. Raise its quota, or give its owner another key.',
    way: 'See the key',
  },
  channel_resting: {
    title: '{{name}} rests on {{count}} of {{of}} nodes',
    text: 'The other nodes ask it as usual. Look at how those nodes reach it.',
    way: 'See health',
  },
  thisGateway: 'this gateway',
  node_version: {
    title: 'Nodes of two versions',
    text: '{{name}} runs {{theirs}}, and the node of this page {{ours}}.',
    way: 'See health',
  },
  journal_full: {
    title: 'The journal of {{name}} takes no records',
    text: 'It refuses all requests that cost something. Free or repair the disk of its data folder.',
    way: 'See health',
  },
  journal_growing: {
    title: 'The journal of {{name}} grows',
    text: '{{number}} usage records wait for the database. They are safe on disk; look at the database.',
    way: 'See health',
  },
} as const;
