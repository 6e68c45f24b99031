export { startApp, type App, type AppOptions } from './app.ts';
