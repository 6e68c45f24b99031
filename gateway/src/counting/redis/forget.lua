-- What was spent on a meter is asked from the database again. KEYS: epoch, the meter's hash.
redis.call('HDEL', KEYS[2], 'spent', 'since')
return {'forgotten'}
