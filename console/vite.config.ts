import react from '@vitejs/plugin-react';
import { defineConfig } from 'vite';

/** Where a gateway listens while the console is developed. */
const gateway = 'http://127.0.0.1:8080';

export default defineConfig({
  base: '/console/',
  plugins: [react()],
  build: {
    target: 'es2023',
    // The page's policy allows no address that carries its own content, except for pictures.
    assetsInlineLimit: 0,
    modulePreload: { polyfill: false },
    // Of the packages in the pages, which nothing else of them shows.
    license: { fileName: 'licenses.md' },
  },
  server: {
    proxy: {
      // The gateway accepts writes of its own pages only.
      '/admin': { target: gateway, headers: { origin: gateway } },
      '/v1': gateway,
    },
  },
});
