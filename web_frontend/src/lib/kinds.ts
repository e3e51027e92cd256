// The colour family of a device row by its name, where a table has only the name.

const kCollective = /^(nccl|rccl|hccl)|nvshmem|deep_ep|all_reduce_kernel/i;

export const kernel_kind = (name: string): 'comm' | 'kernel' => (kCollective.test(name) ? 'comm' : 'kernel');

/** A row by law and no operator: `(no launch)`, `(no operator)`, `(before the recording)`. */
export const is_vague = (name: string): boolean =>
  /^\((no launch|no operator|before the recording|unknown)\)$/.test(name);
