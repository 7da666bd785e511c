$W area --consumers 0
