export {
  createStateDirectory,
  isShared,
  type StateDirectory,
  type StateHome,
  type Standing,
} from './state-directory.ts';
