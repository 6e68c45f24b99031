export { isShared } from './shared-state.ts';
export {
  createStateDirectory,
  type StateDirectory,
  type StateHome,
  type Standing,
} from './state-directory.ts';
