import tls from 'node:tls';

/* A public address that leads to this machine: tests have no host in public. */
const { connect } = tls;
tls.connect = (options, ...rest) =>
  options.host === '93.184.216.34'
    ? connect({ ...options, host: '127.0.0.1', rejectUnauthorized: false }, ...rest)
    : connect(options, ...rest);
