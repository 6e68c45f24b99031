export { tryChannelAlone } from './try-channel.ts';
export { startApp, type App, type AppOptions } from './app.ts';
