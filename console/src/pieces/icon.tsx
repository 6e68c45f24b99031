/** Drawn on 16 × 16, in the colour of the text. */
const paths = {
  brand: 'M3 1.5v13M13 1.5v13M3 4.5h10M5.5 11c1.2-1.2 1.8 0 2.5 0s1.3-1.2 2.5 0',
  overview: 'M2 13.5h12M4 11V7M8 11V3M12 11V5.5',
  requests: 'M2 4h12M2 8h12M2 12h8',
  usage: 'M2 13.5h12M2.5 10.5l3.5-4 3 2.5 4.5-6',
  keys: 'M6 10.5a3.2 3.2 0 1 0 0-6.4 3.2 3.2 0 0 0 0 6.4M8.6 8.6L14 14M11.5 11.5l1.5-1.5',
  channels: 'M2 4h4c3 0 1 8 4 8h4M2 12h4c3 0 1-8 4-8h4',
  models: 'M8 1.8l5.5 3.1v6.2L8 14.2l-5.5-3.1V4.9zM2.7 5L8 8l5.3-3M8 8v6',
  playground: 'M2 3h12v8H7l-3 2.5V11H2z',
  records: 'M3.5 2h6l3 3v9h-9zM6 8h4M6 11h4',
  health: 'M1.5 8h3l2-5 3 10 2-5h3',
  settings:
    'M2 5h7M12 5h2M2 11h2M7 11h7M10.5 6.5a1.5 1.5 0 1 0 0-3 1.5 1.5 0 0 0 0 3M5.5 12.5a1.5 1.5 0 1 0 0-3 1.5 1.5 0 0 0 0 3',
  account:
    'M8 7.9a2.7 2.7 0 1 0 0-5.4 2.7 2.7 0 0 0 0 5.4M2.8 13.8c.3-2.9 2.4-4.3 5.2-4.3s4.9 1.4 5.2 4.3',
  people:
    'M6 7.5a2.3 2.3 0 1 0 0-4.6 2.3 2.3 0 0 0 0 4.6M1.5 13.2c.2-2.6 2-3.9 4.5-3.9s4.3 1.3 4.5 3.9M10.8 3.2a2.2 2.2 0 0 1 0 4.2M12 9.6c1.6.4 2.4 1.7 2.5 3.6',
  teams:
    'M8 6.2a2 2 0 1 0 0-4 2 2 0 0 0 0 4M3.7 13.7a2 2 0 1 0 0-4 2 2 0 0 0 0 4M12.3 13.7a2 2 0 1 0 0-4 2 2 0 0 0 0 4M8 6.2v2.3M8 8.5l-2.8 1.9M8 8.5l2.8 1.9',
  close: 'M4 4l8 8M12 4l-8 8',
  more: 'M3.5 8h.01M8 8h.01M12.5 8h.01',
  up: 'M4 10l4-4 4 4',
  down: 'M4 6l4 4 4-4',
  copy: 'M5.5 5.5h8v8h-8zM10.5 5.5v-3h-8v8h3',
  tick: 'M3 8.6l3.2 3.2L13 5',
  cross: 'M4 4l8 8M12 4l-8 8',
  right: 'M2.5 8H13M9 4l4 4-4 4',
  left: 'M13.5 8H3M7 4L3 8l4 4',
  ring: 'M8 13a5 5 0 1 0 0-10 5 5 0 0 0 0 10M4.5 11.5l7-7',
  search: 'M7 11.5a4.5 4.5 0 1 0 0-9 4.5 4.5 0 0 0 0 9M10.2 10.2L14 14',
  warning: 'M8 2.5l6 11H2zM8 6.5v3.2M8 11.6v.1',
  page: 'M9 3h4v4M13 3L7.5 8.5M11 9.5V13H3V5h3.5',
} as const;
export type IconName = keyof typeof paths;

/** Says nothing to a screen reader: a word always stands beside it. */
export function Icon({ name, size = 16 }: { readonly name: IconName; readonly size?: number }) {
  return (
    <svg className="icon" viewBox="0 0 16 16" width={size} height={size} aria-hidden="true">
      <path d={paths[name]} />
    </svg>
  );
}
