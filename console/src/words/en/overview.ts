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

export const attention = {
  title: 'Needs attention',
  none: 'Nothing at this moment.',
  windows: { daily: 'today', monthly: 'this month', total: 'in total' },
  channel_resting: {
    title: '{{name}} rests',
    text: 'It failed too often. Requests go to other channels until a try succeeds.',
    way: 'See health',
  },
  credential_refused: {
    title: '{{name}}: credential refused',
    text: 'The upstream refuses {{number}} of its credentials. Replace them where the channel is declared.',
    way: 'See health',
  },
  price_missing: {
    title: '{{name}} has no price',
    text: 'Requests for it are refused, because they could not be charged. Set its price where the model is declared.',
    way: 'See requests',
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
  journal_growing: {
    title: 'The journal grows',
    text: '{{number}} usage records wait for the database. They are safe on disk; look at the database.',
    way: '',
  },
} as const;
