import { expect, test } from 'vitest';
import { unacknowledgedPeers } from './vanished-clients.ts';

test.runIf(new Uint8Array(Uint16Array.of(1).buffer)[0] === 1)(
  'Linux’s tables are parsed to Node’s spelling of addresses',
  () => {
    const table = [
      '  sl  local_address rem_address   st tx_queue rx_queue tr tm->when retrnsmt   uid  timeout inode',
      '   0: 0100007F:1F90 0200007F:C350 01 00000010:00000000 01:00000064 00000007     0        0 1 2',
      '   1: 0100007F:1F90 0300007F:C351 01 00000010:00000000 01:00000064 00000000     0        0 1 2',
      '   2: 0100007F:1F90 0300007F:C352 01 00000000:00000000 02:00000064 00000003     0        0 1 2',
      '   3: 0100007F:1F90 0300007F:C353 04 00000010:00000000 01:00000064 00000003     0        0 1 2',
      '   4: 0000000000000000FFFF00000100007F:1F90 0000000000000000FFFF00000100007F:C354 01 00000010:00000000 01:00000064 0000000A     0        0 1 2',
      '   5: B80D0120000000000000000001000000:1F90 B80D0120000000000000000002000000:C355 01 00000010:00000000 01:00000064 00000001     0        0 1 2',
    ].join('\n');
    expect(unacknowledgedPeers(table)).toEqual([
      ['127.0.0.2 50000 8080', 7],
      ['::ffff:127.0.0.1 50004 8080', 10],
      ['2001:db8::2 50005 8080', 1],
    ]);
  },
);
