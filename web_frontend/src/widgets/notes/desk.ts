// What a view may do with notes. The shell keeps them; a view asks here and fetches nothing.
import type {
  NoteAnchorFound,
  NoteHistory,
  NotePlace,
  NoteSession,
  NoteThread,
  Problem,
} from '../../api/types';

export interface NotesDesk {
  /** Of the run on show, the last changed first. Reactive, as all of these. */
  readonly threads: readonly NoteThread[];
  /** Where each of them is in the profile on show, as far as it is known. */
  readonly found: ReadonlyMap<number, NoteAnchorFound>;
  /** Number of the last change of any note: what was listed before it is old. */
  readonly seq: number;
  readonly session: NoteSession | undefined;
  readonly problem: Problem | undefined;
  /** Name under which this browser writes; undefined: not said yet. */
  readonly user: string | undefined;
  set_user(name: string): void;
  /** Opens the panel to write a note about that place. */
  add(place: NotePlace, label: string): void;
  /** Opens the panel at a thread. */
  show(thread: number): void;
  reply(thread: NoteThread, text: string): Promise<void>;
  edit(thread: NoteThread, note: number, text: string): Promise<void>;
  remove(thread: NoteThread, note: number): Promise<void>;
  resolve(thread: NoteThread, resolved: boolean): Promise<void>;
  history(thread: NoteThread, note: number): Promise<NoteHistory>;
  /** The address of a thread's place, and going there. */
  href(thread: NoteThread): string;
  go_to(thread: NoteThread): void;
}
