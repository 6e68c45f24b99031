import { connect, createServer } from 'node:net';

/**
 * The least that any Node program in the middle does for a stream: it reads each piece from one socket and writes it to
 * another. It reads no HTTP, looks up no key and sees no usage. Its cost beside nginx is the floor under every other
 * row of streams.
 */
const [upstream = ''] = process.argv.slice(2);

const server = createServer({ noDelay: true }, (client) => {
  const socket = connect({ port: Number(upstream), host: '127.0.0.1', noDelay: true });
  client.on('data', (chunk) => socket.write(chunk));
  socket.on('data', (chunk) => client.write(chunk));
  client.on('close', () => socket.destroy());
  socket.on('close', () => client.destroy());
  // A reset is an end like any other here.
  client.on('error', () => {});
  socket.on('error', () => {});
});

server.listen(0, '127.0.0.1', () => {
  const address = server.address();
  const port = typeof address === 'object' ? address?.port : null;
  process.stdout.write(`copy listening on http://127.0.0.1:${port}\n`);
});
process.on('SIGTERM', () => process.exit());
