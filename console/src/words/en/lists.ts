export const range = {
  label: 'Time range',
  '1h': '1 h',
  '24h': '24 h',
  '7d': '7 d',
  '30d': '30 d',
  '90d': '90 d',
  whole: 'Back to the usual ranges',
} as const;

export const lists = {
  columns: 'Columns',
  views: 'Views',
  noViews: 'Give this list a name, and it is here whenever you need it.',
  viewName: 'Name of this list',
  keepView: 'Save view',
  removeView: 'Remove {{name}}',
  view: 'Kept list',
  copyCurl: 'Copy as curl',
  copyCurlNamed: 'Copy {{name}} as curl',
} as const;

export const data = {
  histogram:
    'Requests over time by status. Arrow keys choose a time, with Shift several, Enter shows them.',
  requests_one: '{{number}} request',
  requests_other: '{{number}} requests',
  failed: '{{number}} failed',
  refused: '{{number}} refused',
  suggestions: 'Suggestions',
  export: 'of these requests',
  kindOfList: 'Which requests',
  history: 'History',
  live: 'Live',
  pause: 'Pause',
  follow: 'Follow',
  waiting: '{{number}} more',
  running: '{{number}} under way.',
  dropped: '{{number}} came too fast to be shown here; they are in the history.',
  opening: 'Connecting.',
  liveEmpty: 'Waiting for the next request.',
  lost: 'The connection is lost. It is tried again.',
  ofProcess: 'Of the process that serves this page.',
} as const;
